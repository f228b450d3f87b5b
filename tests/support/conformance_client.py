"""The client that MCP's conformance suite tests: CLIENT for what goes without an account, selkie's own commands for signing in.

    python3 conformance_client.py SELKIE CLIENT URL
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

ATTEMPTS = 4


def oauth(scenario, url):
    """What somebody would have put into the config for a scenario."""
    if scenario == "auth/basic-cimd":
        return {"client_metadata_url": "https://conformance-test.local/client-metadata.json"}
    if scenario == "auth/pre-registration":
        context = json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])
        origin, path = re.match(r"(https?://[^/]+)(.*)", url).groups()
        with urllib.request.urlopen(f"{origin}/.well-known/oauth-protected-resource{path}") as answer:
            issuer = json.load(answer)["authorization_servers"][0]
        return {"issuer": issuer, "client_id": context["client_id"], "client_secret": context["client_secret"]}
    return {}


def login(selkie, scope):
    """Signs in as somebody would in a browser: opens the address, and follows where it leads."""
    more = ["--scope", scope] if scope else []
    with subprocess.Popen([*selkie, "mcp", "login", "suite", *more], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.startswith("http"):
                try:
                    urllib.request.urlopen(line.strip()).close()
                except OSError as error:
                    print(error, file=sys.stderr)
                break
        process.stdout.read()
    return process.returncode


def call(selkie):
    """Calls the suite's tool; returns the exit code and what was said."""
    for command in (["trust", "suite"], ["call", "suite", "test-tool"]):
        done = subprocess.run(
            [*selkie, "mcp", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        print(done.stdout, file=sys.stderr)
    return done.returncode, done.stdout


def sign_in_and_call(binary, url, folder):
    """Calls, and signs in as often as the server wants it, to a bound."""
    server = {"url": url, "oauth": oauth(os.environ["MCP_CONFORMANCE_SCENARIO"], url)}
    config = {"file_state_dir": f"{folder}/state", "file_cache_dir": f"{folder}/cache", "mcp": {"servers": {"suite": server}}}
    path = f"{folder}/config.yaml"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    selkie = [binary, "--config", path]
    for _ in range(ATTEMPTS):
        code, said = call(selkie)
        if "mcp login suite" not in said:
            return code
        scope = re.search(r'--scope "(.*?)"', said)
        if login(selkie, scope and scope.group(1)) != 0:
            return 1
    return code


def main():
    binary, client, url = sys.argv[1:]
    if not os.environ.get("MCP_CONFORMANCE_SCENARIO", "").startswith("auth/"):
        os.execv(client, [client, "real", "--ignored", "--nocapture", url])
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(sign_in_and_call(binary, url, folder))


main()
