"""A server of OpenAI's /audio/transcriptions with a real recognizer, for tests/run --speech.

Prints its port, then answers until its standard input ends. OGG is decoded by opusdec.
"""

import email.parser
import email.policy
import http.server
import json
import subprocess
import sys
import threading

import pocketsphinx


def samples(recording):
    """The recording as 16-bit samples of 16 kHz, without a header."""
    if recording[:4] == b"OggS":
        decoder = ["opusdec", "--quiet", "--rate", "16000", "--force-wav", "-", "-"]
        recording = subprocess.run(decoder, input=recording, capture_output=True, check=True).stdout
    if recording[:4] != b"RIFF":
        raise ValueError("neither OGG nor WAV")
    return recording[recording.index(b"data") + 8 :]


def words(recording):
    decoder = pocketsphinx.Decoder(samprate=16000, loglevel="FATAL")
    decoder.start_utt()
    decoder.process_raw(samples(recording), full_utt=True)
    decoder.end_utt()
    heard = decoder.hyp()
    return heard.hypstr if heard else ""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
        form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        try:
            if self.path != "/v1/audio/transcriptions" or "model" not in parts:
                raise ValueError(f"{self.path} with {sorted(parts)}")
            status, answer = 200, {"text": words(parts["file"].get_payload(decode=True))}
        except Exception as error:
            status, answer = 400, {"error": {"message": str(error)}}
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
