"""A small OpenID provider on loopback that does what a test tells it to, also what none may do."""
import base64
import hashlib
import http.server
import json
import threading
import time
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value, size=None):
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


class Key:
    def __init__(self, kid, kind="RSA"):
        self.kid, self.kind = kid, kind
        self.key = rsa.generate_private_key(65537, 2048) if kind == "RSA" else ec.generate_private_key(ec.SECP256R1())

    def public(self):
        numbers = self.key.public_key().public_numbers()
        if self.kind == "RSA":
            return {"kty": "RSA", "kid": self.kid, "use": "sig", "n": number(numbers.n), "e": number(numbers.e)}
        return {"kty": "EC", "crv": "P-256", "kid": self.kid, "x": number(numbers.x, 32), "y": number(numbers.y, 32)}

    def sign(self, content):
        if self.kind == "RSA":
            return self.key.sign(content, padding.PKCS1v15(), hashes.SHA256())
        r, s = utils.decode_dss_signature(self.key.sign(content, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class Provider:
    """What is changed by a test is put back by calm()."""
    KEY = Key("first")  # making one takes a while

    def __init__(self):
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def log_message(self, *words):
                pass

            def do_GET(self):
                provider.asked.append(self.path)
                document = {"/.well-known/openid-configuration": provider.discovery, "/keys": provider.key_set}[self.path]()
                self.answer(json.dumps(document).encode())

            def do_POST(self):
                provider.asked.append(self.path)
                form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                self.answer(*provider.redeem(form, self.headers))

            def answer(self, body, code=200):
                try:
                    self.send_response(code)
                    self.send_header("Content-Type", "application/json")
                    self.end_headers()
                    time.sleep(provider.slow_s)
                    self.wfile.write(body)
                except OSError:
                    pass  # hung up on

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.codes = {}
        self.calm()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def calm(self):
        self.keys, self.signer, self.asked = [self.KEY], self.KEY, []
        self.claims, self.header, self.make, self.slow_s, self.filler = {}, {}, None, 0, ""
        self.said_issuer = self.url

    # ---- What it answers

    def discovery(self):
        return {"issuer": self.said_issuer, "authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys"}

    def key_set(self):
        return {"keys": [key.public() for key in self.keys]}

    def authorize(self, address, subject, **claims):
        """What a person who logs in there is led back with."""
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(address).query))
        assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256" and "openid" in asked["scope"].split()
        code = b64(hashlib.sha256(f"{address}{subject}".encode()).digest())
        self.codes[code] = {**asked, "sub": subject, "claims": claims}
        return asked["redirect_uri"].split("/", 3)[3], {"code": code, "state": asked["state"]}

    def token(self, asked):
        now = int(time.time())
        claims = {"iss": self.url, "sub": asked["sub"], "aud": asked["client_id"], "exp": now + 300, "iat": now, "nonce": asked["nonce"],
                  **asked["claims"], **self.claims}
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256" if self.signer.kind == "RSA" else "ES256", "kid": self.signer.kid, **self.header}
        content = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
        signature = self.make(content.encode()) if self.make else self.signer.sign(content.encode())
        return f"{content}.{b64(signature)}"

    def redeem(self, form, headers):
        asked = self.codes.pop(form["code"], None)
        basic = base64.b64decode(headers.get("Authorization", "Basic ").split()[-1]).decode()
        fits = asked and b64(hashlib.sha256(form["code_verifier"].encode()).digest()) == asked["code_challenge"]
        if not fits or form["redirect_uri"] != asked["redirect_uri"] or basic != "ostraka:s3cret%20%2B":
            return b'{"error":"invalid_grant"}', 400
        return json.dumps({"id_token": self.token(asked), "access_token": "x", "token_type": "Bearer", "filler": self.filler}).encode(), 200
