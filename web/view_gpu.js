/* SPDX-License-Identifier: MIT */
/* One GPU: the claim beside what the hardware did, lanes, and what led to the verdict. */

function makeHero(parent, className, label) {
    const root = makeIn(parent, 'div', `hero-number ${className}`);
    return {
        root,
        label: makeIn(root, 'p', 'hero-label', label),
        number: makeIn(root, 'p', 'hero-value'),
        words: makeIn(root, 'p', 'hero-words'),
    };
}

class GpuView {
    constructor(root, index) {
        this.index = index;
        const head = makeIn(root, 'div', 'view-head');
        this.title = makeIn(head, 'h2');
        this.source = makeIn(head, 'p', 'source');
        const tools = makeIn(head, 'div', 'tools');
        this.chooser = makeChooser(tools, 'gpu', index);
        makeScales(tools);
        const hero = makeIn(root, 'div', 'hero');
        this.claim = makeHero(hero, 'role-claim', 'GPU-Util says');
        this.real = makeHero(hero, 'role-real', 'The busiest unit');
        const body = makeIn(root, 'div', 'gpu-body');
        this.lanesRoot = makeIn(body, 'div', 'lanes');
        const side = makeIn(body, 'aside', 'side');
        side.setAttribute('aria-label', 'What led to the verdict, board, servers and processes');
        this.verdict = new VerdictPiece(hero, side);
        this.makeLanes();
        this.board = new BoardPiece(side);
        this.servers = new ServersPiece(side, index);
        this.processes = new ProcessesPiece(side);
        this.doubts = new LinesPiece(side, 'Doubts');
        this.notes = new LinesPiece(side, 'Notes');
    }

    makeLanes() {
        const ruler = makeIn(this.lanesRoot, 'div', 'ruler');
        this.when = makeIn(ruler, 'span', 'ruler-when');
        const axis = makeIn(ruler, 'div', 'ruler-axis');
        this.marks = [0, 1, 2].map(() => makeIn(axis, 'span'));
        this.lanes = LANES.map((spec) => {
            if (spec.group) makeIn(this.lanesRoot, 'h3', 'lane-group', spec.group);
            const lane = new Lane(this.lanesRoot, this.index, spec, false);
            watchPointer(lane.canvas);
            return lane;
        });
    }

    update(status) {
        const gpu = page.gpu(this.index);
        if (!gpu) return;
        setText(this.title, `GPU ${gpu.index}  ${gpu.name || '(name not known)'}`);
        setText(this.source, `${gpu.chip ? `${gpu.chip} · ` : ''}${sourceText(gpu)}`);
        fillChooser(this.chooser, status, 'gpu', this.index);
        this.updateHero(gpu);
        for (const lane of this.lanes) lane.update(gpu);
        this.hideRepeated();
        this.verdict.update(gpu);
        this.board.update(gpu);
        this.servers.update(status);
        this.processes.update(gpu);
        this.doubts.update(doubtsOf(gpu));
        this.notes.update(notesOf(status, this.index));
        this.updateRuler();
    }

    updateHero(gpu) {
        const util = page.value(gpu, 'gpu_util'),
            best = busiestOf(gpu);
        setText(this.claim.number, valueText(util));
        setText(
            this.claim.words,
            hasNumber(util) ? 'of the time a kernel was there' : reasonText(util),
        );
        setText(
            this.real.label,
            best ? `The busiest unit: ${best.label}` : 'The busiest unit',
        );
        setText(this.real.number, best ? valueText(best.value) : 'not known');
        setText(
            this.real.words,
            best
                ? 'of what it can do'
                : reasonText(page.value(gpu, 'sm_issue')) || 'no unit has a sound number',
        );
        const role = best ? roleOf(best.key) : 'real';
        for (const name of ['real', 'memory', 'link'])
            setClass(this.real.root, `role-${name}`, role === name);
        for (const hero of [this.claim, this.real])
            setClass(hero.number, 'word', !/\d/.test(hero.number.textContent));
    }

    /* A link's second direction that is unknown for the reason of the first says nothing new. */
    hideRepeated() {
        this.lanes.forEach((lane, i) => {
            const above = this.lanes[i - 1];
            setHidden(
                lane.root,
                lane.spec.role === 'link' &&
                    above.spec.role === 'link' &&
                    !hasNumber(lane.value) &&
                    !hasNumber(above.value) &&
                    reasonText(lane.value) === reasonText(above.value),
            );
        });
    }

    updateRuler() {
        const edge = page.edgeMs(),
            span = page.seconds * 1000;
        setText(this.when, page.isPast() ? `at ${clock(page.cursorMs)}` : 'last second');
        [1, 0.5, 0].forEach((part, i) =>
            setText(
                this.marks[i],
                page.frozen
                    ? clock(edge - part * span)
                    : part
                      ? `${duration(part * span)} ago`
                      : 'now',
            ),
        );
    }

    tick(frame) {
        const gpu = frame.gpus.find((g) => g.index === this.index);
        for (const lane of this.lanes) lane.tick(gpu && gpu.values);
    }

    draw(withWords) {
        for (const lane of this.lanes) lane.draw(withWords);
    }
}
