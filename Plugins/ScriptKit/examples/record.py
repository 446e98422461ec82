#!/usr/bin/env python3
"""Records each message and each result in an SQLite database: calls.db, or the file of the argument."""

import json, sqlite3, sys
from rpcurl import interceptor

database = sqlite3.connect(sys.argv[1] if len(sys.argv) > 1 else "calls.db", isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS events (time DEFAULT CURRENT_TIMESTAMP, method, stage, content)")


@interceptor.request_message(reads=True)
@interceptor.response_message(reads=True)
@interceptor.finish
def record(call, message=None):
    content = json.dumps(message) if call.stage != "finish" else call.status.code
    database.execute("INSERT INTO events (method, stage, content) VALUES (?, ?, ?)", (call.method, call.stage, content))


interceptor.run(effects=["exports calls"])
