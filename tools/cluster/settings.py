"""settings.py -- what a node of the test cluster is told: its cassandra.yaml and the words for its JVM.

Three nodes on a machine with two cores that is also running the tests: small heaps and caches, the quick compiler, one token
each, no waiting for a ring that is known to be small. Nothing that decides what an answer means is changed, but for one thing: a change of the schema is
not flushed at once, so who ends a node other than by `cluster.py kill` may lose tables that were just made, with their rows. What a
production cluster needs is in docs/cassandra.md."""
import json

TOKENS = ("-9223372036854775808", "-3074457345618258603", "3074457345618258602")
NODES = range(1, len(TOKENS) + 1)
CQL_PORT, GOSSIP_PORT = 9042, 7000


def address(number):
    return f"127.0.0.{number}"


def jmx_port(number):
    return 7100 + number


def node_settings(number):
    """The content of cassandra.yaml."""
    return {
        "cluster_name": "ostraka-test",
        "num_tokens": 1,
        "initial_token": TOKENS[number - 1],
        "auto_bootstrap": False,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "listen_address": address(number),
        "rpc_address": address(number),
        # Each is a seed, so that any of them starts whichever others are gone.
        "seed_provider": [{"class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                           "parameters": [{"seeds": ",".join(f"{address(n)}:{GOSSIP_PORT}" for n in NODES)}]}],
        "paxos_variant": "v2",
        "storage_compatibility_mode": "NONE",  # otherwise what would expire after 2038 is refused
        # With "periodic" an acknowledged write is lost even when only the processes of two nodes are killed: what came after the last mark in
        # the log (one each 100 ms) is not read again. Writers wait for the disk, so there are more of them than cores.
        "commitlog_sync": "batch",
        "commitlog_segment_size": "16MiB",  # a mutation is at most half of it, and a batch of ours at most 4 MiB
        "commitlog_total_space": "256MiB",
        "auto_snapshot": False,  # tests truncate and drop tables all the time
        "memtable_heap_space": "64MiB",
        "memtable_offheap_space": "64MiB",
        "file_cache_size": "32MiB",
        "key_cache_size": "8MiB",
        "concurrent_reads": 4,
        "concurrent_writes": 32,
        "concurrent_compactors": 1,
    }


def yaml(settings):
    """JSON values are YAML values."""
    return "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())


EXPORTS = """
    java.base/jdk.internal.misc java.management.rmi/com.sun.jmx.remote.internal.rmi java.management/com.sun.jmx.remote.security
    java.rmi/sun.rmi.registry java.rmi/sun.rmi.server java.sql/java.sql java.base/java.lang.ref java.base/sun.nio.ch
    jdk.unsupported/sun.misc jdk.attach/sun.tools.attach jdk.compiler/com.sun.tools.javac.file""".split()
OPENS = """
    java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref java.base/jdk.internal.reflect
    java.base/jdk.internal.math java.base/jdk.internal.module java.base/jdk.internal.util.jar
    jdk.management/com.sun.management.internal java.base/sun.nio.ch java.base/java.io java.base/java.lang.reflect
    java.base/java.lang java.base/java.util java.base/java.nio jdk.compiler/com.sun.tools.javac""".split()
MODULES = [word for option, names in (("--add-exports", EXPORTS), ("--add-opens", OPENS)) for name in names
           for word in (option, f"{name}=ALL-UNNAMED")]


def node_command(java, cluster, number):
    """The words that start a node whose files are below `cluster`."""
    home = cluster / f"node{number}"
    properties = {
        "java.net.preferIPv4Stack": "true",
        "jdk.attach.allowAttachSelf": "true",
        "io.netty.tryReflectionSetAccessible": "true",
        "chronicle.analytics.disable": "true",
        "cassandra.config": f"file://{home}/cassandra.yaml",
        "cassandra.storagedir": f"{home}/data",
        "cassandra.logdir": f"{home}/log",
        "cassandra.triggers_dir": f"{home}/triggers",
        "cassandra.jmx.local.port": str(jmx_port(number)),
        "cassandra-foreground": "yes",
        "cassandra.skip_wait_for_gossip_to_settle": "0",
        "cassandra.ring_delay_ms": "2000",
        # A change of the schema is in the commit log at first, like data: 45 tables take 2 s instead of 57 (see flush_command).
        "cassandra.test.flush_local_schema_changes": "false",
    }
    agent = next((cluster / "lib").glob("jamm-*.jar"))
    return [java, f"-javaagent:{agent}", "-Xms512m", "-Xmx512m", "-Xss256k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            *(f"-D{name}={value}" for name, value in properties.items()), *MODULES,
            "-cp", f"{cluster}/conf:{cluster}/lib/*", "org.apache.cassandra.service.CassandraDaemon"]


def flush_command(java, cluster, number):
    """Writes down which tables there are. To be done before a node is killed: it reads that before its log, and passes over what the log
    has for tables that it does not know."""
    return [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-Duser.home={cluster}/node{number}",
            f"-Dcassandra.logdir={cluster}/node{number}/tool", *MODULES,
            "-cp", f"{cluster}/conf:{cluster}/lib/*", "org.apache.cassandra.tools.NodeTool",
            "-h", "127.0.0.1", "-p", str(jmx_port(number)), "flush", "system_schema"]
