/* SPDX-License-Identifier: MIT */
/* What several views show: the verdict, the board, servers, processes, notes. */

/* ---- the verdict ---- */

const VERDICT_LISTS = [
    ['evidence', 'Because'],
    ['limits', 'Not proven'],
    ['advice', 'Try'],
];

/* The sentence goes into one place, what led to it into another. */
class VerdictPiece {
    constructor(head, side) {
        this.head = makeIn(head, 'div', 'verdict');
        const line = makeIn(this.head, 'p', 'hero-label', 'Verdict');
        this.since = makeIn(line, 'span', 'aside');
        this.kind = makeIn(this.head, 'strong', 'kind');
        this.text = makeIn(this.head, 'span', 'verdict-text');
        this.lists = VERDICT_LISTS.map(([key, title]) => {
            const part = makePart(side, title, `verdict-list ${key}`);
            return { key, box: part.root, list: makeIn(part.body, 'ul') };
        });
    }

    update(gpu) {
        const shown = page.verdicts.of(gpu, page.isPast() ? page.cursorMs : null);
        const verdict = shown
            ? shown.verdict
            : {
                  kind: '',
                  text: page.isPast()
                      ? 'no verdict is kept of that moment'
                      : 'no verdict yet: it takes a second of hardware counters',
              };
        setText(this.kind, verdict.kind);
        setHidden(this.kind, !verdict.kind);
        setText(this.text, verdict.text);
        const since = shown && shown.sinceMs ? `since ${clock(shown.sinceMs)}` : '';
        // the page does not know what was before it
        setText(this.since, since && shown.isFirst ? `at least ${since}` : since);
        for (const { key, box, list } of this.lists) {
            const lines = verdict[key] || [];
            setHidden(box, !lines.length);
            setLines(list, lines);
        }
    }
}

/* Verdicts kept calm, as src/panel/verdicts.c does: another kind is shown when two windows in a row
 * say so. Where nothing is counted now, the word of the daemon stands as it is. */
class Verdicts {
    constructor() {
        this.kept = new Map(); // gpu index → [{fromMs, sinceMs, verdict}], newest last
    }

    take(status) {
        for (const gpu of status.gpus) {
            if (!isCounted(gpu) || !gpu.source.samples) continue;
            const fromMs = Date.parse(gpu.start),
                list = this.kept.get(gpu.index) || [];
            this.kept.set(gpu.index, list);
            if (fromMs === list.seenMs) continue;
            list.seenMs = fromMs;
            const newest = list[list.length - 1];
            if (!newest)
                list.push({ fromMs, sinceMs: fromMs, isFirst: true, verdict: gpu.verdict });
            else if (newest.verdict.kind === gpu.verdict.kind) newest.verdict = gpu.verdict;
            else if (list.candidate === gpu.verdict.kind)
                list.push({
                    fromMs: list.candidateMs,
                    sinceMs: list.candidateMs,
                    verdict: gpu.verdict,
                });
            else {
                list.candidate = gpu.verdict.kind;
                list.candidateMs = fromMs;
                continue;
            }
            list.candidate = '';
            if (list.length > 600) list.shift();
        }
    }

    of(gpu, ms) {
        const list = this.kept.get(gpu.index) || [];
        if (ms === null)
            return isCounted(gpu) ? list[list.length - 1] : { verdict: gpu.verdict, sinceMs: 0 };
        return list.filter((entry) => entry.fromMs <= ms).pop();
    }
}

const isCounted = (gpu) => gpu.source.backend !== 'none' && gpu.source.backend !== 'nvml';

/* Whose counters these are, how many a second, and how much of the time they cover. */
function sourceText(gpu) {
    const source = gpu.source;
    if (!isCounted(gpu)) {
        const active = gpu.metrics.sm_active;
        return active && active.state === 'warming'
            ? 'hardware counters: no whole second yet'
            : 'no hardware counters so far: the driver’s readings only';
    }
    if (!source.samples) return `${source.backend}: no sample yet`;
    const coverage =
        source.coverage === null
            ? ''
            : ` · ${Number((100 * source.coverage).toPrecision(3))} % covered`;
    return `${source.backend}${source.rate_hz ? ` ${Number(source.rate_hz.toPrecision(3))} Hz` : ''}${coverage}`;
}

/* ---- label and value, for board and servers ---- */

function makeFact() {
    const root = make('div', 'fact');
    makeIn(root, 'dt');
    makeIn(root, 'dd');
    return root;
}

function fillFact(root, { label, text, reason, key }) {
    setText(root.firstChild, label);
    setText(root.lastChild, text);
    setClass(root, 'dim', reason !== '');
    setAttribute(root, 'data-metric', key);
    if (reason) setAttribute(root, 'title', reason);
    else root.removeAttribute('title');
}

const BOARD = [
    ['power', 'Power', 'power_limit'],
    ['gpc_clock', 'SM clock', '', 'clock_sm'],
    ['temperature', 'Temperature'],
    ['throttle', 'Clock limits'],
    ['mem_used', 'Memory', 'mem_total'],
    ['clock_mem', 'Memory clock'],
    ['mem_temperature', 'Memory temp.'],
    ['fan', 'Fan'],
    ['ecc_errors', 'ECC errors'],
];

function boardFacts(gpu) {
    return BOARD.map(([first, label, of, or]) => {
        const key = or && !hasNumber(page.value(gpu, first)) ? or : first;
        const value = page.value(gpu, key),
            whole = of ? page.value(gpu, of) : undefined;
        const text =
            valueText(value) +
            (hasNumber(value) && hasNumber(whole) ? ` of ${valueText(whole)}` : '');
        return { key, label, text, reason: reasonText(value) };
    });
}

class BoardPiece {
    constructor(parent) {
        this.part = makePart(parent, 'Board', 'board');
        this.facts = makeIn(this.part.body, 'dl', 'facts');
        this.reasons = makeIn(this.part.body, 'ul', 'reasons');
    }

    update(gpu) {
        const facts = boardFacts(gpu);
        setChildren(this.facts, facts, makeFact, fillFact);
        setLines(this.reasons, reasonsOf(facts));
    }
}

/* Why facts have no sound number. */
const reasonsOf = (facts) =>
    facts.filter((fact) => fact.reason).map((fact) => `${fact.label} is ${fact.reason}`);

/* ---- servers ---- */

const SIGNALS = [
    ['output_tokens_per_second', 'Output'],
    ['tpot', 'TPOT'],
    ['ttft', 'TTFT'],
    ['running', 'Running'],
    ['waiting', 'Waiting'],
    ['kv_usage', 'KV cache'],
    ['prompt_tokens_per_second', 'Prompt'],
];
const COSTS = [
    ['bytes_per_output_token', 'Bytes per token'],
    ['joules_per_output_token', 'Energy per token'],
];

function gpusText(server) {
    if (!server.gpus.length) return 'on no GPU that is known';
    return `on GPU ${server.gpus.join(', ')}`;
}

function makeServer() {
    const root = make('div', 'server');
    const head = makeIn(root, 'p', 'server-head');
    for (const part of ['server-kind', 'server-model', 'server-where', 'server-url'])
        makeIn(head, 'span', part);
    makeIn(root, 'dl', 'facts');
    makeIn(root, 'ul', 'reasons');
    return root;
}

function fillServer(root, server) {
    const [head, facts, reasons] = root.children;
    const texts = [
        server.kind || 'server',
        server.model || 'model not told',
        gpusText(server),
        server.url,
    ];
    texts.forEach((text, i) => setText(head.children[i], text));
    if (server.state !== 'ok') {
        setChildren(facts, [], makeFact, fillFact);
        setLines(reasons, [
            `${server.state.replace('_', ' ')}: ${server.reason || 'no reason was given'}`,
        ]);
        return;
    }
    const list = [
        ...SIGNALS.map(([key, label]) => [key, label, server.metrics[key]]),
        ...COSTS.map(([key, label]) => [key, label, server.derived[key]]),
    ].map(([key, label, value]) => ({
        key,
        label,
        text: valueText(value),
        reason: reasonText(value),
    }));
    setChildren(facts, list, makeFact, fillFact);
    setLines(reasons, reasonsOf(list));
}

/* index: of the GPU whose servers are wanted; null = all. */
class ServersPiece {
    constructor(parent, index) {
        this.part = makePart(parent, 'Servers', 'servers');
        this.index = index;
        this.list = makeIn(this.part.body, 'div', 'server-list');
        this.words = makeIn(this.part.body, 'p', 'empty');
    }

    update(status) {
        const all = status.servers || [],
            own =
                this.index === null
                    ? all
                    : all.filter((server) => server.gpus.includes(this.index));
        setChildren(this.list, own, makeServer, fillServer);
        const others = all.length - own.length;
        setText(
            this.words,
            !all.length
                ? 'no inference server was found or named'
                : others
                  ? `${others} ${others === 1 ? 'server is' : 'servers are'} not known to use this GPU (see the overview)`
                  : '',
        );
        setHidden(this.words, this.words.textContent === '');
    }
}

/* ---- processes ---- */

const NAMELESS = '(no name)';

function processTexts(process) {
    const told = (unit, v, step) => (typeof v === 'number' ? format(unit, v, step) : 'not told');
    return [
        String(process.pid),
        process.name || NAMELESS,
        told('bytes', process.gpu_memory),
        told('ratio', process.sm_utilization, 0.01),
    ];
}

class ProcessesPiece {
    constructor(parent) {
        this.part = makePart(parent, 'Processes', 'processes');
        this.list = makeIn(this.part.body, 'ul', 'process-list');
        this.words = makeIn(this.part.body, 'p', 'empty');
    }

    update(gpu) {
        const all = gpu.processes || [];
        setChildren(
            this.list,
            all.slice(0, 8),
            () => {
                const row = make('li');
                for (const part of ['pid', 'name', 'memory', 'share']) makeIn(row, 'span', part);
                return row;
            },
            (row, process) =>
                processTexts(process).forEach((text, i) => setText(row.children[i], text)),
        );
        setText(
            this.words,
            gpu.processes === null
                ? 'processes are not known'
                : !all.length
                  ? 'no process uses this GPU'
                  : all.length > 8
                    ? `and ${all.length - 8} more (p)`
                    : '',
        );
        setHidden(this.words, this.words.textContent === '');
    }
}

/* ---- doubts and notes ---- */

class LinesPiece {
    constructor(parent, title) {
        this.part = makePart(parent, title, 'lines');
        this.list = makeIn(this.part.body, 'ul');
    }

    update(lines) {
        setHidden(this.part.root, !lines.length);
        setLines(this.list, lines);
    }
}

/* Of the metrics that have no place of their own in the view. */
function doubtsOf(gpu) {
    const placed = new Set([...LANES.flatMap((lane) => [lane.key, lane.or]), ...BOARD.flat()]);
    return Object.entries(gpu.metrics)
        .filter(([key, m]) => hasNumber(m) && m.state !== 'ok' && !placed.has(key))
        .map(([key, m]) => `${labelOf(key)} is ${reasonText(m)}`);
}

/* The name of the recording that is played, or ''. */
function replayOf(status, known = '') {
    if (status.daemon && status.daemon.replay) return status.daemon.replay.replace(/.*\//, '');
    for (const note of status.notes || []) {
        const [, path] = /^a recording is played: (.*)/.exec(note.text) || [];
        if (path) return path.replace(/.*\//, '');
    }
    return status.replay ? known || 'of a recording' : '';
}

function notesOf(status, index) {
    return (status.notes || [])
        .filter(
            (note) =>
                note.level !== 'info' &&
                (index === null || note.gpu === null || note.gpu === index),
        )
        .slice(-8)
        .map(
            (note) =>
                `${note.time ? `${clock(Date.parse(note.time))} ` : ''}${note.gpu === null ? '' : `GPU ${note.gpu}: `}${note.text}`,
        );
}
