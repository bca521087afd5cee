#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes tests/fuzz/corpus/nsys: real exports reduced to a few KiB each, so that mutations hit something.
# Needs the sqlite3 shell. The result is committed; run it again only when the reader learns new tables.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=$here/tests/fuzz/corpus/nsys
mkdir -p "$out"

reduce() { # original, name, further SQL
    local small=$out/$2.sqlite
    rm -f "$small"
    cp "$here/data/h200/$1.sqlite" "$small" && chmod u+w "$small"
    sqlite3 "$small" "SELECT 'DROP TABLE \"'||name||'\";' FROM sqlite_master WHERE type='table' AND name NOT IN
        ('GPU_METRICS','TARGET_INFO_GPU_METRICS','GENERIC_EVENT_TYPE_FIELDS','StringIds','TARGET_INFO_GPU','DIAGNOSTIC_EVENT',
         'META_DATA_EXPORT','META_DATA_CAPTURE','TARGET_INFO_SESSION_START_TIME')" | sqlite3 "$small"
    sqlite3 "$small" "DELETE FROM GPU_METRICS WHERE timestamp > 130000000;
        DELETE FROM StringIds WHERE id NOT IN (SELECT fieldNameId FROM GENERIC_EVENT_TYPE_FIELDS);
        DELETE FROM META_DATA_EXPORT WHERE name NOT IN ('EXPORT_SCHEMA_VERSION','EXPORT_PRODUCT_VERSION','EXPORT_PARAM_TIME_NORMALIZE');
        DELETE FROM META_DATA_CAPTURE WHERE name NOT GLOB 'GPU_METRICS*';
        DELETE FROM DIAGNOSTIC_EVENT WHERE rowid > 3; $3
        PRAGMA page_size=512; VACUUM;"
}
reduce decode plain ""
reduce matmul no-names "DROP TABLE TARGET_INFO_GPU_METRICS;"
reduce decode ids-only "DROP TABLE TARGET_INFO_GPU_METRICS; DROP TABLE GENERIC_EVENT_TYPE_FIELDS;"
reduce idle two-gpus "INSERT INTO GPU_METRICS SELECT rawTimestamp,timestamp+3,typeId+1,metricId,value FROM GPU_METRICS;
    INSERT INTO TARGET_INFO_GPU_METRICS SELECT typeId+1,sourceId,typeName,metricId,metricName FROM TARGET_INFO_GPU_METRICS;"
reduce decode disorder "CREATE TABLE t AS SELECT * FROM GPU_METRICS ORDER BY metricId, timestamp DESC;
    DELETE FROM GPU_METRICS; INSERT INTO GPU_METRICS SELECT * FROM t; DROP TABLE t;"
reduce decode kinds "UPDATE GENERIC_EVENT_TYPE_FIELDS SET type=fieldIdx%4, size=1<<(fieldIdx%4);
    INSERT INTO DIAGNOSTIC_EVENT VALUES(5,1,2,3,'GPU Metrics [0]: Sampling buffer overflow',1);"
ls -l "$out"
