// Signing in at an issuer: authorization code with PKCE. The token that comes of it is kept as a key is.

import { setKey } from "./api.js";

/**
 * @typedef {{ issuer: string, client_id: string, scope: string, parameters: Record<string, string> }} Place
 * @typedef {{ state: string, nonce: string, verifier: string, issuer: string, hash: string }} Attempt
 * @typedef {{ issuer: string, authorization_endpoint: string, token_endpoint: string }} Endpoints
 */

const ATTEMPT = "pith-sign-in";

/** @type {() => Promise<Place[]>} */
export async function findPlaces() {
  const response = await fetch("web/sign-in.json");
  return response.ok ? response.json() : [];
}

/** @type {(place: Place) => Promise<void>} */
export async function signIn(place) {
  const { authorization_endpoint } = await discover(place);
  const attempt = { state: random(), nonce: random(), verifier: random() };
  const begun = { ...attempt, issuer: place.issuer, hash: location.hash };
  sessionStorage.setItem(ATTEMPT, JSON.stringify(begun));
  const asked = new URL(authorization_endpoint);
  const query = {
    ...place.parameters,
    response_type: "code",
    client_id: place.client_id,
    redirect_uri: here(),
    scope: place.scope,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await challenge(attempt.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, value);
  location.assign(asked);
}

/** What an issuer sent back with, if the page was opened by one. */
export async function finishSignIn() {
  const given = new URLSearchParams(location.search);
  if (!given.has("state")) return;
  /** @type {Attempt | null} */
  const attempt = JSON.parse(sessionStorage.getItem(ATTEMPT) ?? "null");
  sessionStorage.removeItem(ATTEMPT);
  // A code is good for once; neither it nor the state stays in the history.
  history.replaceState(null, "", location.pathname + (attempt?.hash ?? ""));
  if (!attempt || attempt.state !== given.get("state")) throw new Error("This sign-in was not begun here.");
  const place = (await findPlaces()).find(({ issuer }) => issuer === attempt.issuer);
  if (!place || (given.get("iss") ?? attempt.issuer) !== attempt.issuer)
    throw new Error("The sign-in was answered by somebody else.");
  const code = given.get("code");
  if (!code) throw new Error(`The sign-in was refused: ${given.get("error") ?? "without a reason"}.`);
  setKey(await redeem(place, attempt, code));
}

/** @type {(place: Place, attempt: Attempt, code: string) => Promise<string>} */
async function redeem(place, attempt, code) {
  const { token_endpoint } = await discover(place);
  const form = {
    grant_type: "authorization_code",
    code,
    client_id: place.client_id,
    redirect_uri: here(),
    code_verifier: attempt.verifier,
  };
  const response = await fetch(token_endpoint, { method: "POST", body: new URLSearchParams(form) });
  if (!response.ok) throw new Error("The issuer gave no token for this sign-in.");
  const { access_token, id_token } = await response.json();
  if (!access_token || !id_token) throw new Error("The issuer gave no token for this sign-in.");
  const said = claims(id_token);
  const audience = [said.aud].flat();
  if (said.nonce !== attempt.nonce || said.iss !== place.issuer || !audience.includes(place.client_id))
    throw new Error("The token is of another sign-in.");
  return access_token;
}

/** @type {(place: Place) => Promise<Endpoints>} */
async function discover({ issuer }) {
  const response = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (!response.ok) throw new Error("The issuer does not say where to sign in.");
  const found = await response.json();
  if (found.issuer !== issuer) throw new Error("The issuer calls itself something else.");
  return found;
}

/**
 * Straight from the issuer's token endpoint: there is nobody in between whose signature would have to be checked.
 * @type {(token: string) => Record<string, any>}
 */
function claims(token) {
  const middle = token.split(".")[1] ?? "";
  const bytes = atob(middle.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0))));
}

function here() {
  return location.origin + location.pathname;
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** @type {(verifier: string) => Promise<string>} */
async function challenge(verifier) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return base64url(new Uint8Array(digest));
}

/** @type {(bytes: Uint8Array) => string} */
function base64url(bytes) {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
