/* SPDX-License-Identifier: MIT */
/* All GPUs. A view is built once for a set of GPUs and then only changed: update() takes a new status,
 * tick() a new frame, draw() paints the charts. */

const SORTS = [
    ['number', (gpu) => -gpu.index],
    ['GPU-Util', (gpu) => numberOf(gpu, 'gpu_util')],
    ['gap', (gpu) => gapOf(gpu)],
    ['power', (gpu) => numberOf(gpu, 'power')],
    ['memory', (gpu) => numberOf(gpu, 'mem_used')],
];

const numberOf = (gpu, key) =>
    hasNumber(page.value(gpu, key)) ? page.value(gpu, key).value : -Infinity;

function gapOf(gpu) {
    const busiest = busiestOf(gpu);
    return busiest ? numberOf(gpu, 'gpu_util') - busiest.value.value : -Infinity;
}

/* Lanes of a card: what GPU-Util says, SM active, and the unit that worked hardest. That one
 * changes only when another is clearly ahead. */
class Card {
    constructor(parent, index) {
        this.index = index;
        this.root = makeIn(parent, 'a', 'card');
        this.root.href = `#/gpu/${index}`;
        const head = makeIn(this.root, 'p', 'card-head');
        this.name = makeIn(head, 'span', 'card-name');
        this.verdict = makeIn(head, 'strong', 'kind');
        this.busiest = { key: 'sm_issue', role: 'real', words: '' };
        this.lanes = [
            { key: 'gpu_util', role: 'claim' },
            { key: 'sm_active', role: 'real' },
            this.busiest,
        ].map((spec) => new Lane(this.root, index, spec, true));
        this.facts = makeIn(this.root, 'dl', 'facts');
    }

    update(gpu) {
        const shown = page.verdicts.of(gpu, page.cursorMs),
            best = busiestOf(gpu),
            current = page.value(gpu, this.busiest.key);
        if (best && (!isSound(current) || best.value.value > current.value + 0.02))
            this.setBusiest(best.key);
        setText(this.name, `${gpu.index}  ${gpu.name || '(name not known)'}`);
        setText(this.verdict, shown ? shown.verdict.kind : 'no verdict yet');
        setClass(this.verdict, 'dim', !shown);
        setAttribute(
            this.root,
            'aria-label',
            `GPU ${gpu.index}, ${gpu.name || 'name not known'}, ${shown ? shown.verdict.text : 'no verdict yet'}`,
        );
        for (const lane of this.lanes) lane.update(gpu);
        const facts = [
            ['power', 'Power'],
            ['temperature', 'Temp.'],
            ['mem_used', 'Memory'],
        ].map(([key, label]) => ({
            key,
            label,
            text: valueText(page.value(gpu, key)),
            reason: reasonText(page.value(gpu, key)),
        }));
        setChildren(this.facts, facts, makeFact, fillFact);
    }

    setBusiest(key) {
        this.lanes[2].root.classList.replace(`role-${this.busiest.role}`, `role-${roleOf(key)}`);
        Object.assign(this.busiest, { key, role: roleOf(key) });
    }
}

class OverviewView {
    constructor(root) {
        this.head = makeIn(root, 'div', 'view-head');
        this.title = makeIn(this.head, 'h2');
        this.tools = makeIn(this.head, 'div', 'tools');
        this.sorts = makeIn(
            makeIn(this.tools, 'div', 'choice'),
            'span',
            'choice-label',
            'Sort',
        ).parentElement;
        this.sorts.setAttribute('role', 'group');
        this.sorts.setAttribute('aria-label', 'Sort by');
        this.sortButtons = SORTS.map(([name], i) => {
            const button = makeIn(this.sorts, 'button', '', name);
            button.addEventListener('click', () => page.setSort(i));
            return button;
        });
        makeScales(this.tools);
        makeFilter(this.tools, 'name, verdict or process');
        this.cards = makeIn(root, 'div', 'cards');
        this.none = makeIn(root, 'p', 'empty big');
        this.byIndex = new Map();
        this.servers = new ServersPiece(root, null);
        this.notes = new LinesPiece(root, 'Notes');
    }

    matches(gpu) {
        const shown = page.verdicts.of(gpu, null);
        const texts = [
            `${gpu.index} ${gpu.name || ''} ${shown ? shown.verdict.kind : ''}`,
            ...(gpu.processes || []).map((p) => p.name || ''),
        ];
        return texts.some((text) => page.matches(text));
    }

    update(status) {
        const key = SORTS[page.sort][1],
            all = status.gpus.length;
        const shown = status.gpus
            .filter((gpu) => this.matches(gpu))
            .sort((a, b) => (key(b) > key(a) ? 1 : key(b) < key(a) ? -1 : a.index - b.index));
        setText(
            this.title,
            `${all} GPU${all === 1 ? '' : 's'}${shown.length < all ? `, ${shown.length} shown` : ''}`,
        );
        this.sortButtons.forEach((button, i) =>
            setAttribute(button, 'aria-pressed', i === page.sort),
        );
        setText(
            this.none,
            !all
                ? NO_GPU
                : !shown.length
                  ? 'No GPU, verdict or process has this in its name (Esc: all).'
                  : '',
        );
        setHidden(this.none, shown.length > 0);
        this.arrange(shown);
        this.servers.update(status);
        this.notes.update(notesOf(status, null));
    }

    arrange(shown) {
        const wanted = new Set(shown.map((gpu) => gpu.index));
        for (const [index, card] of this.byIndex)
            if (!wanted.has(index)) {
                card.root.remove();
                this.byIndex.delete(index);
                forgetCharts();
            }
        shown.forEach((gpu, i) => {
            let card = this.byIndex.get(gpu.index);
            if (!card) this.byIndex.set(gpu.index, (card = new Card(this.cards, gpu.index)));
            if (this.cards.children[i] !== card.root)
                this.cards.insertBefore(card.root, this.cards.children[i] || null);
            card.update(gpu);
        });
    }

    tick(frame) {
        for (const gpu of frame.gpus) {
            const card = this.byIndex.get(gpu.index);
            if (card) for (const lane of card.lanes) lane.tick(gpu.values);
        }
    }

    draw(withWords) {
        for (const card of this.byIndex.values())
            for (const lane of card.lanes) lane.draw(withWords);
    }
}
