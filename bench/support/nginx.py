"""nginx with the same pages as files: same number of workers, same headers, an access log, keep-alive, no compression."""
import os
import signal
import socket

from . import run

# Buffered logging, sendfile and cached file handles: what nginx is fastest with here.
CONFIG = """
daemon off;
master_process on;
worker_processes {workers};
worker_rlimit_nofile 20000;
pid {directory}/nginx.pid;
error_log {directory}/error.log warn;
events {{ worker_connections 16384; }}
http {{
    default_type "{content_type}";
    access_log {directory}/access.log combined buffer=64k flush=1s;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    gzip off;
    etag off;
    max_ranges 0;
    server_tokens off;
    keepalive_timeout 65;
    keepalive_requests 1000000000;
    open_file_cache max=10000 inactive=1h;
    open_file_cache_valid 1h;
    client_body_temp_path {directory}/body;
    proxy_temp_path {directory}/proxy;
    fastcgi_temp_path {directory}/fastcgi;
    uwsgi_temp_path {directory}/uwsgi;
    scgi_temp_path {directory}/scgi;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        root {directory}/files;
        add_header Last-Modified "";
{headers}
    }}
}}
"""

# nginx writes these itself.
OWN = {"date", "server", "content-type", "content-length", "connection", "last-modified"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def header_line(name, value):
    """X-Request-Id is fresh for each request on both sides: nginx has a variable of 32 digits for it."""
    if name.lower() == "x-request-id":
        return f"        add_header {name} $request_id;"
    quoted = value.replace('"', '\\"')
    return f"        add_header {name} \"{quoted}\";"


class Nginx:
    """`pages`: the bytes of /page, or of several paths by their names."""

    def __init__(self, session, pages, headers, workers):
        directory = session.path("nginx")
        os.makedirs(os.path.join(directory, "files"))
        os.chmod(session.directory, 0o755)
        for name, page in ({"page": pages} if isinstance(pages, bytes) else pages).items():
            with open(os.path.join(directory, "files", name), "wb") as file:
                file.write(page)
        self.port = free_port()
        content_type = next(value for name, value in headers if name.lower() == "content-type")
        lines = [header_line(name, value) for name, value in headers if name.lower() not in OWN]
        config = os.path.join(directory, "nginx.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(directory=directory, port=self.port, workers=workers, content_type=content_type,
                                     headers="\n".join(lines)))
        self.child = session.start(["nginx", "-p", directory, "-e", os.path.join(directory, "error.log"), "-c", config],
                                   how=signal.SIGTERM)
        run.wait_until(self.serves, 10, "the start of nginx")

    def serves(self):
        if self.child.poll() is not None:
            raise run.Failure("nginx did not start")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0
