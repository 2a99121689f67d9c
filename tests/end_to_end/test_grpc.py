"""A server chooses the group while the autoscaler runs, goes away and comes back."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc

SCENARIO = """
zones: [eu-a]
instanceTypes:
  small: {cpu: 4, memory: 8Gi, price: 0.2}
groups:
  - {name: on-demand, zone: eu-a, instanceType: small, max: 5, bootTime: 30s}
  - {name: spot, zone: eu-a, instanceType: small, max: 5, bootTime: 30s}
workloads:
  deployments:
    - {name: web, replicas: 0, cpu: "3", memory: 1Gi}
"""
SETTINGS = """
scaleUp:
  expanders:
    - grpc: {{url: "localhost:{port}", insecure: true}}
    - priority: {{priorities: {{2: [on-demand], 1: [spot]}}}}
scaleDown: {{enabled: false}}
"""
SPOT = b"\x0a\x06\x0a\x04spot"


@contextmanager
def a_server(port=0):
    """A server that always names the group spot; gives its port."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        server = grpc.server(pool)
        handler = grpc.unary_unary_rpc_method_handler(lambda request, context: SPOT)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("grpcplugin.Expander", {"BestOptions": handler}),)
        )
        port = server.add_insecure_port(f"localhost:{port}")
        server.start()
        try:
            yield port
        finally:
            server.stop(None).wait()


def test_the_server_chooses_and_while_it_is_away_the_chain_goes_on(begin, monkeypatch, caplog) -> None:
    monkeypatch.delenv("http_proxy", raising=False)
    with a_server() as port:
        life = begin(SCENARIO, SETTINGS.format(port=port))

        def one_more(replicas):
            before = life.sizes()
            life.scale("web", replicas)
            life.until(lambda: len(life.pods("Running")) == replicas)
            (grown,) = (group for group, size in life.sizes().items() if size > before.get(group, 0))
            return grown

        assert one_more(1) == "spot"
    assert [one_more(2), one_more(3)] == ["on-demand", "on-demand"]
    with a_server(port):
        assert one_more(4) == "spot"
    (line,) = (record.getMessage() for record in caplog.records if "expander server" in record.getMessage())
    assert line.startswith(f"plugin grpc failed in best: the expander server localhost:{port} can't be reached: ")
