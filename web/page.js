/* SPDX-License-Identifier: MIT */
/* What is shown: the model, what views ask of it, and what the feed gives to it. The other parts of
 * `page` are in places.js, moments.js, words.js and start.js. */

const byId = (id) => document.getElementById(id);

const page = {
    status: null, // the newest
    frozen: null, // {edgeMs, status} while frozen
    cursorMs: null, // the moment that is looked at; null = now
    pointed: false, // the cursor is the pointer's
    seconds: 600, // that charts show
    sort: 0,
    filter: '',
    view: null, // {name, index, part}
    before: '', // where Esc goes back to
    theme: 'system',
    receivedAt: 0, // when the status came, of nowMs()
    takenMs: 0, // and when it was taken, by the clock of the server
    historyWords: '',
    replay: '', // the recording that is played
    isOld: false, // nothing new comes
    trace: new Trace(),
    verdicts: new Verdicts(),
    help: byId('help'),

    /* ---- what views ask for ---- */

    shown() {
        return this.frozen ? this.frozen.status : this.status;
    },

    gpu(index) {
        const status = this.shown();
        return status && status.gpus.find((gpu) => gpu.index === index);
    },

    edgeMs() {
        return this.frozen ? this.frozen.edgeMs : this.trace.newestMs;
    },

    isPast() {
        return this.cursorMs !== null;
    },

    /* The value of now, or of the second before the cursor. What never changes is true of the past,
     * too. */
    value(gpu, key) {
        const now = gpu && gpu.metrics[key];
        if (!this.isPast() || !now || key === 'mem_total' || key === 'power_limit') return now;
        const then = this.trace.at(gpu.index, key, this.cursorMs);
        if (then)
            return {
                ...now,
                state: 'ok',
                reason: '',
                value: then.mean,
                min: then.min,
                max: then.max,
                p50: undefined,
                p95: undefined,
                samples: 2,
                words: undefined,
                past: true,
            };
        if (!hasNumber(now)) return now;
        return {
            unit: now.unit,
            source: now.source,
            value: null,
            state: 'unsupported',
            reason: 'nothing is kept of that moment',
        };
    },

    matches(text) {
        return text.toLowerCase().includes(this.filter.toLowerCase());
    },

    /* ---- what the feed gives ---- */

    taker: {
        frame(frame) {
            page.trace.addFrame(frame);
            if (page.frozen || document.hidden || !page.view) return;
            if (!page.isPast()) page.view.part.tick(frame);
            if (page.seconds <= GRAINS[0].seconds) page.draw();
        },

        status(status, streamed) {
            page.status = status;
            page.receivedAt = nowMs();
            page.takenMs = Math.max(
                ...status.gpus.map((gpu) => endMs(gpu) + (gpu.source.age_ms || 0)),
                Date.parse(status.time) || 0,
            );
            page.verdicts.take(status);
            if (!streamed || !page.trace.newestMs) page.trace.addStatus(status);
            document.documentElement.dataset.time = status.time || '';
            document.title = status.host ? `smeff – ${status.host}` : 'smeff';
            setText(byId('host'), status.host || '');
            page.replay = replayOf(status, page.replay); // its note goes with time
            setText(byId('replay'), page.replay && `replay ${page.replay}`);
            if (!page.view || !page.viewFits()) page.route();
            else if (!page.frozen) page.update();
            page.announceVerdict();
        },

        connected() {
            // another server, or one whose clock was set back: what was kept is not of its time
            if (page.takenMs < page.trace.newestMs - 5000) page.trace = new Trace();
            page.replay = replayOf(page.status);
            page.loadHistory();
        },
    },

    /* A GPU that went away, or the first one that came. */
    viewFits() {
        const { name, index } = this.place();
        return this.view.name === name && this.view.index === index;
    },

    /* Charts begin with what the server remembers. One request after another: it is not in a hurry. */
    async loadHistory() {
        const load = (this.loading = {});
        this.historyWords = '';
        const gpus = this.status ? this.status.gpus.map((gpu) => gpu.index) : [];
        const first = this.view && this.view.index;
        gpus.sort((a, b) => (b === first) - (a === first) || a - b);
        for (const grain of [1, 0])
            for (const gpu of gpus) {
                try {
                    const { seconds, step } = GRAINS[grain];
                    const history = await getJson(
                        `history.json?gpu=${gpu}&seconds=${seconds}&columns=${(seconds * 1000) / step}`,
                    );
                    if (load !== this.loading) return;
                    this.trace.addHistory(history, grain);
                    this.draw();
                } catch (error) {
                    if (load !== this.loading) return;
                    this.historyWords = `charts begin now: the past could not be had (${error.message})`;
                }
            }
    },

    /* ---- showing ---- */

    update() {
        if (!this.view || document.hidden) return;
        this.view.part.update(this.shown());
        this.view.root.classList.toggle('past', this.isPast());
        this.showState();
        this.draw(true);
    },

    draw(withWords = false) {
        this.words = this.words || withWords;
        if (this.drawing || !this.view) return;
        this.drawing = true;
        requestAnimationFrame(() => {
            this.drawing = false;
            this.view.part.draw(this.words);
            this.words = false;
        });
    },
};

/* The end of a GPU's newest window. */
const endMs = (gpu) => (Date.parse(gpu.start) || 0) + gpu.window_s * 1000;
