// A real OpenID provider (npm: oidc-provider) on loopback, for oidc_suite.py: node provider.mjs PACKAGES PORT REDIRECT_URI ALG.
// Prints its address. Its own pages for development ask for a name and any password.
import { createRequire } from "node:module";
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import { pathToFileURL } from "node:url";

const [, , packages, port, back, alg] = process.argv;
const require = createRequire(packages + "/");
const { default: Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

const issuer = `http://127.0.0.1:${port}`;
const { privateKey } = alg === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("rsa", { modulusLength: 2048 });
const provider = new Provider(issuer, {
  clients: [{ client_id: "ostraka", client_secret: "a secret of the suite +/=", redirect_uris: [back], id_token_signed_response_alg: alg }],
  claims: { openid: ["sub"], email: ["email"], profile: ["preferred_username"] },
  conformIdTokenClaims: false,
  findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, email: `${id}@elsewhere.example`, preferred_username: id }) }),
  pkce: { required: () => true, methods: ["S256"] },
  cookies: { keys: ["only a suite"] },
  jwks: { keys: [{ ...privateKey.export({ format: "jwk" }), kid: "one", use: "sig", alg }] },
});
createServer(provider.callback()).listen(Number(port), "127.0.0.1", () => console.log(issuer));
