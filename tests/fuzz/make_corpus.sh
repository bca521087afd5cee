#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes tests/fuzz/corpus/llm from tests/llm, tests/fuzz/corpus/wire from docs/events.md, and tests/fuzz/corpus/nsys: real exports reduced to the columns that are read, three samples and a few KiB each, so
# that mutations hit something. Needs the sqlite3 shell. The result is committed; run it again when the reader reads more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$here/tests/fuzz/corpus/nsys
rm -rf "$out" && mkdir -p "$out"

keep() { # table, columns, rows: the SQL that copies them from the attached original
    echo "CREATE TABLE $1 AS SELECT $2 FROM original.$1 WHERE $3;"
}
reduce() { # original, name, further SQL
    sqlite3 "$out/$2.sqlite" "PRAGMA page_size=512; ATTACH '$here/data/h200/$1.sqlite' AS original;
        $(keep GPU_METRICS 'timestamp,typeId,metricId,value' 'timestamp < 70000000')
        $(keep TARGET_INFO_GPU_METRICS 'typeId,metricId,metricName' 1)
        $(keep GENERIC_EVENT_TYPE_FIELDS 'typeId,fieldIdx,type,size' 1)
        $(keep TARGET_INFO_GPU 'vmId,id,name,uuid,chipName,busLocation' 1)
        $(keep DIAGNOSTIC_EVENT 'severity,text' 'rowid BETWEEN 2 AND 3')
        $(keep META_DATA_EXPORT 'name,value' "name IN ('EXPORT_SCHEMA_VERSION','EXPORT_PRODUCT_VERSION',
            'EXPORT_PARAM_TIME_NORMALIZE','EXPORT_PARAM_TIME_SHIFT')")
        $(keep META_DATA_CAPTURE 'name,value' "name GLOB 'GPU_METRICS*'")
        $(keep TARGET_INFO_SESSION_START_TIME utcEpochNs 1)
        DETACH original; $3
        VACUUM;"
}
reduce decode plain ""
reduce matmul no-names "DROP TABLE TARGET_INFO_GPU_METRICS;"
reduce decode ids-only "DROP TABLE TARGET_INFO_GPU_METRICS; DROP TABLE GENERIC_EVENT_TYPE_FIELDS;"
reduce idle two-gpus "INSERT INTO GPU_METRICS SELECT timestamp+3,typeId+1,metricId,value FROM GPU_METRICS;
    INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+1,metricId,metricName FROM TARGET_INFO_GPU_METRICS;"
reduce decode disorder "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY metricId, timestamp DESC;
    DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t; DROP TABLE t;"
reduce decode kinds "UPDATE GENERIC_EVENT_TYPE_FIELDS SET type=fieldIdx%4, size=1<<(fieldIdx%4);
    INSERT INTO DIAGNOSTIC_EVENT VALUES(3,'GPU Metrics [0]: Sampling buffer overflow'),(2,'w'),(4,'v');"
reduce decode cells "UPDATE GPU_METRICS SET value=NULL WHERE metricId=3; UPDATE GPU_METRICS SET value='86' WHERE metricId=4;
    UPDATE GPU_METRICS SET value=8.5 WHERE metricId=5; UPDATE GPU_METRICS SET timestamp=NULL WHERE metricId=6;"
reduce decode turing "UPDATE TARGET_INFO_GPU SET chipName='TU102'; UPDATE GPU_METRICS SET timestamp=timestamp*17/10 WHERE
    timestamp>50000000; UPDATE META_DATA_EXPORT SET value='60' WHERE name='EXPORT_PARAM_TIME_SHIFT';"
reduce decode old "DROP TABLE GPU_METRICS; DROP TABLE TARGET_INFO_GPU_METRICS; CREATE TABLE GENERIC_EVENTS(typeId,data);
    CREATE TABLE GENERIC_EVENT_TYPES(typeId,sourceId); CREATE TABLE GENERIC_EVENT_SOURCES(sourceId,nameId);
    CREATE TABLE StringIds(id,value); INSERT INTO GENERIC_EVENTS VALUES(1,'{\"GR Active\":\"12\"}'),(2,NULL);
    INSERT INTO GENERIC_EVENT_TYPES VALUES(1,1); INSERT INTO GENERIC_EVENT_SOURCES VALUES(1,1);
    INSERT INTO StringIds VALUES(1,'GpuMetrics');"
reduce decode generated "ALTER TABLE DIAGNOSTIC_EVENT ADD COLUMN x AS (hex(severity));"
reduce decode wal "" && sqlite3 "$out/wal.sqlite" "PRAGMA journal_mode=WAL" >/dev/null
ls -l "$out"

# tests/fuzz/corpus/llm: the pairs of tests/llm, each as one input.
out=$here/tests/fuzz/corpus/llm
rm -rf "$out" && mkdir -p "$out"
for first in "$here"/tests/llm/*.1.txt; do
    pair=${first%.1.txt}
    { cat "$first"; printf '\0'; cat "$pair.2.txt"; } >"$out/${pair##*/}"
done

# tests/fuzz/corpus/wire: every event as docs/events.md shows it.
mkdir -p "$here/tests/fuzz/corpus/wire"
grep '^{"event"' "$here/docs/events.md" >"$here/tests/fuzz/corpus/wire/documented"
