/* SPDX-License-Identifier: MIT */
/* Every metric of a GPU: value, source and state, or in words why there is no number. */

class MetricsView {
    constructor(root, index) {
        this.index = index;
        const head = makeIn(root, 'div', 'view-head');
        this.title = makeIn(head, 'h2');
        const tools = makeIn(head, 'div', 'tools');
        this.chooser = makeChooser(tools, 'metrics', index);
        makeFilter(tools, 'metric, source or state');
        const table = makeIn(root, 'table', 'metrics');
        const row = makeIn(makeIn(table, 'thead'), 'tr');
        for (const [title, className] of [
            ['Metric', ''],
            ['From', ''],
            ['Value', 'n'],
            ['p50', 'n more'],
            ['p95', 'n more'],
            ['Most', 'n more'],
            ['State', 'more'],
        ])
            makeIn(row, 'th', className, title).scope = 'col';
        this.table = table;
        this.none = makeIn(
            root,
            'p',
            'empty',
            'No metric, source or state has this in its name (Esc: all).',
        );
        this.groups = new Map();
        this.rows = new Map();
    }

    group(title) {
        let body = this.groups.get(title);
        if (body) return body;
        body = makeIn(this.table, 'tbody');
        const cell = makeIn(makeIn(body, 'tr', 'group'), 'th', '', title);
        cell.colSpan = 7;
        cell.scope = 'rowgroup';
        this.groups.set(title, body);
        return body;
    }

    row(key) {
        let row = this.rows.get(key);
        if (row) return row;
        const info = CATALOGUE[key] || { label: key, group: 'Other', help: '' };
        const root = makeIn(this.group(info.group), 'tr');
        root.dataset.metric = key;
        const name = makeIn(root, 'th', '', info.label);
        name.scope = 'row';
        makeIn(name, 'span', 'key', key);
        if (info.help) makeIn(name, 'span', 'help', info.help);
        row = {
            root,
            info,
            from: makeIn(root, 'td', 'from'),
            cells: ['n value', 'n more', 'n more', 'n more', 'state more'].map((c) =>
                makeIn(root, 'td', c),
            ),
            reason: makeIn(root, 'td', 'reason'),
        };
        row.reason.colSpan = 5;
        this.rows.set(key, row);
        return row;
    }

    fill(gpu, key) {
        const row = this.row(key),
            value = page.value(gpu, key),
            known = hasNumber(value);
        const several = known && value.samples > 1;
        const text = (v) =>
            several && typeof v === 'number' ? format(value.unit, v, value.resolution) : '–';
        setText(row.from, value.source && value.source !== 'none' ? value.source : '–');
        const texts = known
            ? [
                  valueText(value),
                  text(value.p50),
                  text(value.p95),
                  text(value.max),
                  value.state === 'ok'
                      ? several || value.past
                          ? 'ok'
                          : 'ok, one reading'
                      : reasonText(value),
              ]
            : ['', '', '', '', ''];
        texts.forEach((t, i) => setText(row.cells[i], t));
        row.cells.forEach((cell) => setHidden(cell, !known));
        setHidden(row.reason, known);
        setText(row.reason, known ? '' : reasonText(value));
        setClass(row.root, 'doubt', known && value.state !== 'ok');
        setHidden(
            row.root,
            !page.matches(
                `${key} ${row.info.label} ${value.source} ${value.state} ${row.info.group}`,
            ),
        );
        if (value.counter) setAttribute(row.from, 'title', value.counter);
    }

    update(status) {
        const gpu = page.gpu(this.index);
        if (!gpu) return;
        setText(this.title, `GPU ${gpu.index}  every metric`);
        fillChooser(this.chooser, status, 'metrics', this.index);
        for (const key of Object.keys(gpu.metrics)) this.fill(gpu, key);
        for (const body of this.groups.values())
            setHidden(body, ![...body.children].some((row) => row.dataset.metric && !row.hidden));
        setHidden(
            this.none,
            [...this.groups.values()].some((body) => !body.hidden),
        );
    }

    tick() {}

    draw() {}
}
