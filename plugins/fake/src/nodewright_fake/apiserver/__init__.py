"""A Kubernetes API server over HTTP, in memory.

`server` accepts connections, `wire` reads and writes their messages, `router` asks `record`, `faults` and `access`
and passes the request on: to `reads` and `watch`, to `writes`, to one of the subresources or to `discovery`. All of
them work on the one `store`; `changelog` follows it for the watches, `catalogue` for the custom resources.
"""
