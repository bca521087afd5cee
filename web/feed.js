/* SPDX-License-Identifier: MIT */
/* Where the data come from: the event stream; where that is refused, /status.json once a second;
 * and what is known of the connection at any time. All by relative addresses, to the server that
 * gave this page.
 *
 * states: connecting, live, silent (connected, but nothing comes), asking (no stream: status.json),
 *         lost (trying again at retryAt), denied (the server wants a password) */

const SILENT_MS = 3500,
    DEAD_MS = 10000,
    ANSWER_MS = 5000,
    STREAM_AGAIN_MS = 20000;
const WAITS_MS = [1000, 2000, 4000, 8000, 15000];

const nowMs = () => performance.now();

async function getJson(path) {
    const answer = await fetch(path, {
        cache: 'no-store',
        credentials: 'same-origin',
        signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (!answer.ok)
        throw Object.assign(new Error(`HTTP ${answer.status}`), { status: answer.status });
    return answer.json();
}

class Feed {
    /* taker: { status(json), frame(json), connected() } */
    constructor(taker, hz) {
        this.taker = taker;
        this.hz = hz;
        this.state = 'connecting';
        this.why = '';
        this.lastAt = 0; // when something came; of nowMs()
        this.retryAt = 0;
        this.losses = 0; // in a row
        this.refusals = 0; // streams in a row that gave nothing
        this.isNew = true; // nothing came since the connection is there (again)
        this.timer = 0;
        setInterval(() => this.watch(), 250);
        addEventListener('online', () => this.retryNow());
        document.addEventListener('visibilitychange', () => document.hidden || this.retryNow());
        this.open();
    }

    set(state, why = '') {
        this.state = state;
        this.why = why;
    }

    heard() {
        if (this.state !== 'live' && this.state !== 'asking') this.isNew = true;
        this.lastAt = nowMs();
        this.losses = 0;
        if (this.stream) this.refusals = 0;
        this.set(this.stream ? 'live' : 'asking', this.stream ? '' : this.why);
    }

    takeStatus(status, streamed) {
        this.heard();
        const isNew = this.isNew;
        this.isNew = false;
        this.taker.status(status, streamed);
        if (isNew) this.taker.connected();
    }

    takeFrame(frame) {
        this.heard();
        this.taker.frame(frame);
    }

    open() {
        clearTimeout(this.timer);
        this.close();
        const stream = new EventSource(`events?hz=${this.hz}`);
        this.stream = stream;
        this.openedAt = nowMs();
        this.gaveAny = false;
        const deliver = (take) => (event) => {
            if (stream !== this.stream) return;
            this.gaveAny = true;
            take(JSON.parse(event.data));
        };
        stream.addEventListener(
            'status',
            deliver((data) => this.takeStatus(data, true)),
        );
        stream.addEventListener(
            'frame',
            deliver((data) => this.takeFrame(data)),
        );
        stream.onerror = () => stream === this.stream && this.failed();
    }

    close() {
        if (this.stream) this.stream.close();
        this.stream = null;
    }

    /* The stream broke, or was refused: which of both, the other path tells. */
    async failed() {
        if (this.gaveAny) this.isNew = true;
        else this.refusals++;
        this.close();
        if (this.refusals < 2 && this.gaveAny) {
            this.gaveAny = false;
            this.timer = setTimeout(() => this.open(), 300);
            return;
        }
        await this.ask();
    }

    async ask() {
        clearTimeout(this.timer);
        try {
            const status = await getJson('status.json');
            if (this.stream) return;
            this.why = 'the event stream is refused';
            this.takeStatus(status, false);
            this.streamAt = this.streamAt || nowMs() + STREAM_AGAIN_MS;
            const next =
                this.refusals < 2 || nowMs() > this.streamAt ? () => this.open() : () => this.ask();
            if (nowMs() > this.streamAt) this.streamAt = 0;
            this.timer = setTimeout(next, 1000);
        } catch (error) {
            if (!this.stream) this.lose(error);
        }
    }

    lose(error) {
        const denied = error.status === 401 || error.status === 403;
        const wait = WAITS_MS[Math.min(this.losses++, WAITS_MS.length - 1)];
        this.retryAt = nowMs() + wait;
        this.set(denied ? 'denied' : 'lost', error.status ? error.message : '');
        this.timer = setTimeout(() => this.open(), wait);
    }

    retryNow() {
        if (this.state === 'lost' || this.state === 'denied' || this.state === 'silent')
            this.open();
    }

    /* A stopped or unplugged server closes nothing: silence is what tells. */
    watch() {
        if (!this.stream) return;
        const silence = nowMs() - Math.max(this.lastAt, this.openedAt);
        if (this.state === 'live' && silence > SILENT_MS) this.set('silent');
        if (silence > (this.gaveAny ? DEAD_MS : ANSWER_MS)) this.failed();
    }
}
