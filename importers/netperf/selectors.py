"""Names of netperf's output selectors with ``-k``, by the names with ``-o``."""

LONG_NAMES: dict[str, str] = {
    "throughput": "THROUGHPUT",
    "throughput units": "THROUGHPUT_UNITS",
    "transaction rate tran/s": "TRANSACTION_RATE",
    "round trip latency usec/tran": "RT_LATENCY",
    "elapsed time (sec)": "ELAPSED_TIME",
    "direction": "DIRECTION",
    "protocol": "PROTOCOL",
    "request size bytes": "REQUEST_SIZE",
    "response size bytes": "RESPONSE_SIZE",
    "local send size": "LOCAL_SEND_SIZE",
    "remote send size": "REMOTE_SEND_SIZE",
    "local bytes sent": "LOCAL_BYTES_SENT",
    "local bytes received": "LOCAL_BYTES_RECVD",
    "remote bytes sent": "REMOTE_BYTES_SENT",
    "remote bytes received": "REMOTE_BYTES_RECVD",
    "remote recv throughput": "REMOTE_RECV_THROUGHPUT",
    "local cpu util %": "LOCAL_CPU_UTIL",
    "remote cpu util %": "REMOTE_CPU_UTIL",
    "local cpu util method": "LOCAL_CPU_METHOD",
    "remote cpu util method": "REMOTE_CPU_METHOD",
    "local cpu count": "LOCAL_CPU_COUNT",
    "remote cpu count": "REMOTE_CPU_COUNT",
    "local service demand": "LOCAL_SD",
    "remote service demand": "REMOTE_SD",
    "service demand units": "SD_UNITS",
    "minimum latency microseconds": "MIN_LATENCY",
    "mean latency microseconds": "MEAN_LATENCY",
    "50th percentile latency microseconds": "P50_LATENCY",
    "90th percentile latency microseconds": "P90_LATENCY",
    "99th percentile latency microseconds": "P99_LATENCY",
    "maximum latency microseconds": "MAX_LATENCY",
    "stddev latency microseconds": "STDDEV_LATENCY",
    "local transport retransmissions": "LOCAL_TRANSPORT_RETRANS",
    "remote transport retransmissions": "REMOTE_TRANSPORT_RETRANS",
    "transport mss bytes": "TRANSPORT_MSS",
    "throughput confidence width (%)": "THROUGHPUT_CONFID",
    "confidence iterations run": "CONFIDENCE_ITERATION",
    "local congestion control algorithm": "LOCAL_CONG_CONTROL",
    "remote congestion control algorithm": "REMOTE_CONG_CONTROL",
    "netperf version": "NETPERF_VERSION",
    "result tag": "RESULT_BRAND",
    "test uuid": "UUID",
    "command line": "COMMAND_LINE",
}
"""Long name in lower case -> name of the selector; unknown names are kept."""

SELECTORS = frozenset(LONG_NAMES.values())


def normalise_name(printed: str) -> str:
    """Return a long name in the form of ``LONG_NAMES``: single blanks, lower case."""
    return " ".join(printed.split()).lower()
