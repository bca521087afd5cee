/* SPDX-License-Identifier: MIT */
/* Who uses the GPUs. */

class ProcessesView {
    constructor(root) {
        const head = makeIn(root, 'div', 'view-head');
        this.title = makeIn(head, 'h2');
        makeFilter(makeIn(head, 'div', 'tools'), 'process');
        this.table = makeIn(root, 'table', 'all-processes');
        const row = makeIn(makeIn(this.table, 'thead'), 'tr');
        for (const [title, className] of [
            ['GPU', 'n'],
            ['PID', 'n'],
            ['Memory', 'n'],
            ['Driver’s share of time', 'n'],
            ['Name', ''],
        ])
            makeIn(row, 'th', className, title).scope = 'col';
        this.body = makeIn(this.table, 'tbody');
        this.words = makeIn(root, 'ul', 'empty');
    }

    update(status) {
        const all = status.gpus
            .flatMap((gpu) => (gpu.processes || []).map((process) => [gpu, process]))
            .filter(([, p]) => page.matches(`${p.pid} ${p.name || ''}`));
        setText(this.title, `${all.length} process${all.length === 1 ? '' : 'es'} on GPUs`);
        setHidden(this.table, !all.length);
        setChildren(
            this.body,
            all,
            () => {
                const row = make('tr');
                for (const className of ['n', 'n', 'n', 'n', 'name']) makeIn(row, 'td', className);
                return row;
            },
            (row, [gpu, process]) => {
                const [pid, name, memory, share] = processTexts(process);
                [String(gpu.index), pid, memory, share, name].forEach((text, i) =>
                    setText(row.children[i], text),
                );
            },
        );
        setLines(this.words, [
            ...(status.gpus.length ? [] : [NO_GPU]),
            ...(page.frozen ? ['as of the moment of freezing'] : []),
            ...status.gpus
                .filter((gpu) => gpu.processes === null)
                .map(
                    (gpu) =>
                        `GPU ${gpu.index}: its processes are not known (the driver or the recording does not tell)`,
                ),
        ]);
    }

    tick() {}

    draw() {}
}
