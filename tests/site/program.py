"""Programs before the site: requests to /api/v1, and every answer held against the schema that the OpenAPI document names for it."""
import http.client
import json
import re


class Reply:
    def __init__(self, answer):
        self.code = answer.status
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        text = answer.read().decode()
        self.json = json.loads(text) if text else None

    def fault(self):
        return self.code, self.json["error"].get("field"), self.json["error"].get("rule", "")


class Client:
    """A program, by token; or a script of the site's own pages, by session."""

    def __init__(self, api, secret=None, token=None):
        self.api, self.cookies, self.token, self.csrf = api, {}, token, None
        if secret:
            self.cookies["session"] = secret

    def raw(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=30)
        sent = {"Cookie": "; ".join(f"{n}={v}" for n, v in self.cookies.items())} if self.cookies else {}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if self.csrf:
            sent["X-CSRF-Token"] = self.csrf
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection.request(method, f"/api/v1/{path}", body, {**sent, **(headers or {})})
        answer = connection.getresponse()
        for cookie in answer.msg.get_all("Set-Cookie", []):
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        reply = Reply(answer)
        connection.close()
        return reply

    def ask(self, method, path, body=None, **headers):
        text = None if body is None else json.dumps(body)
        reply = self.raw(method, path, text, {name.replace("_", "-"): value for name, value in headers.items()})
        self.api.judge(method, path, reply)
        return reply

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def save(self, lines, seen=None, **more):
        """With the version that stands, unless it is given."""
        headers = more.pop("headers", {})
        seen = seen or self.get("me/votes").json["version"]
        return self.ask("PUT", "me/votes", {"lines": {str(policy): held for policy, held in lines.items()}, "seen": seen, **more},
                        **headers)


TYPES = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list, "null": type(None)}


class Api:
    """A site, and what its document promises."""

    def __init__(self, port):
        self.port = port
        self.document = Client(self).raw("GET", "openapi.json").json

    def judge(self, method, path, reply):
        """Whether the answer is what the document promises."""
        path = "/api/v1/" + path.split("?")[0]
        fitting = [name for name in self.document["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", name), path)]
        if not fitting or reply.code == 405:
            return
        exact = path if path in fitting else fitting[0]
        answers = self.document["paths"][exact][method.lower()]["responses"]
        content = answers.get(str(reply.code), answers["default"]).get("content")
        if content and reply.json is not None:
            assert self.fits(content["application/json"]["schema"], reply.json), (method, path, reply.code, reply.json)

    def fits(self, schema, value):
        if "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].split("/")[-1]]
        if "anyOf" in schema:
            return any(self.fits(one, value) for one in schema["anyOf"])
        types = schema.get("type", list(TYPES))
        types = types if isinstance(types, list) else [types]
        if not any(isinstance(value, TYPES[name]) and not (name == "integer" and isinstance(value, bool)) for name in types):
            return False
        if isinstance(value, dict):
            properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
            return all(name in value for name in schema.get("required", [])) and all(
                self.fits(properties[name], member) if name in properties else more and (more is True or self.fits(more, member))
                for name, member in value.items())
        if isinstance(value, list):
            return all(self.fits(schema["items"], element) for element in value)
        return ("enum" not in schema or value in schema["enum"]) and (
            "pattern" not in schema or value is None or re.search(schema["pattern"], value)) is not None
