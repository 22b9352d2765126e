// journal_peer.mjs -- job queues for Node as peers in the journal's benchmark: BullMQ, graphile-worker, pg-boss.
//
//     node journal_peer.mjs KIND CONNECTION CLIENTS PID BODY
// KIND is a key of PEERS, CONNECTION is JSON for its driver, BODY the bytes of a job. It obeys the commands of journal_peer.c, one a line, and answers
// each with a line of JSON. The clients are shared by two threads, since one cannot use two cores. Costs of the server are those of process PID
// and its children. BENCH_NODE is the folder that the packages are installed in.
//
// BullMQ and pg-boss are asked for a job and told of its end by each client, as ours is. graphile-worker has no such calls: its own runner works,
// and a cycle is over when it says that a job is complete. Its latency of claim and done alone cannot be measured, and is null.
import { createRequire } from "node:module";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Worker as Thread, isMainThread, parentPort, workerData } from "node:worker_threads";
import { fileURLToPath } from "node:url";

const require = createRequire(`${process.env.BENCH_NODE}/package.json`);
const THREADS = 2, MANY = 1000, APART_MS = 7, LATER_MS = 3600_000, EXPIRE_S = 3600, TICKS = 100;
const now = () => performance.now();
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

class BullMQ {
    async open({ connection, body }) {
        const { Queue, Worker } = require("bullmq");
        this.Worker = Worker;
        this.options = { connection: { ...connection, maxRetriesPerRequest: null } };
        this.queue = new Queue("j", this.options);
        this.worker = new Worker("j", null, { ...this.options, autorun: false, lockDuration: LATER_MS });
        this.worker.setMaxListeners(0); // each call that waits is one
        this.data = { d: body };
        await this.queue.waitUntilReady();
        await this.worker.waitUntilReady();
    }
    async put() { await this.queue.add("w", this.data, { removeOnComplete: true }); }
    async claim() { return this.worker.getNextJob("t", { block: false }); }
    async done(job) { await job.moveToCompleted("", "t", false); }
    async putMany(dates) {
        const start = Date.now();
        await this.queue.addBulk(dates.map((due) => (
            { name: "w", data: { due }, opts: { removeOnComplete: true, delay: due === 0 ? 0 : Math.max(due - start, 0) } })));
    }
    async wakeBy(woken) {
        const worker = new this.Worker("j", async (job) => woken(job.data.due), this.options);
        return () => worker.close();
    }
    async close() { await this.worker.close(); await this.queue.close(); }
}

class PgBoss {
    async open({ connection, body, clients, first }) {
        const Boss = require("pg-boss");
        this.boss = new Boss({ ...connection, max: clients, schedule: false, migrate: first, supervise: first });
        this.boss.on("error", (error) => { throw error; });
        await this.boss.start();
        if (first)
            await this.boss.createQueue("j");
        this.data = { d: body };
        this.options = { expireInSeconds: EXPIRE_S };
    }
    async put() { await this.boss.send("j", this.data, this.options); }
    async claim() { return (await this.boss.fetch("j", { batchSize: 1 }))[0]; }
    async done(job) { await this.boss.complete("j", job.id); }
    async putMany(dates) {
        await this.boss.insert(dates.map((due) => ({ name: "j", data: { due }, ...this.options, startAfter: due === 0 ? undefined : new Date(due) })));
    }
    async wakeBy(woken) {
        const id = await this.boss.work("j", { pollingIntervalSeconds: 0.5, batchSize: MANY },
            async (jobs) => jobs.forEach((job) => woken(job.data.due)));
        return () => this.boss.offWork({ id });
    }
    async close() { await this.boss.stop({ graceful: false }); }
}

class GraphileWorker {
    // Each thread has a task of its own, so that a client hears of the end of what its thread has put.
    async open({ connection, body, clients, first }) {
        this.task = first ? "w0" : "w1";
        this.library = require("graphile-worker");
        const { Pool } = require("pg");
        this.clients = clients;
        this.pool = new Pool({ ...connection, max: clients + 4 });
        const fail = (error) => { throw error; };
        this.pool.on("error", fail).on("connect", (client) => client.on("error", fail));
        this.logger = new this.library.Logger(() => () => {});
        this.utils = await this.library.makeWorkerUtils({ pgPool: this.pool, logger: this.logger });
        if (first)
            await this.utils.migrate();
        this.data = { d: body };
    }
    async put() { await this.utils.addJob(this.task, this.data); }
    async putMany(dates) {
        await this.utils.addJobs(dates.map((due) => ({ identifier: this.task, payload: { due }, runAt: due === 0 ? undefined : new Date(due) })));
    }
    // Its own runner with the settings that its pages advise for many small jobs. The end waits until what is complete is written.
    async runBy(complete) {
        const runner = await this.library.run({
            pgPool: this.pool, logger: this.logger, concurrency: this.clients, noHandleSignals: true, taskList: { [this.task]: (data) => complete(data) },
            preset: { worker: { localQueue: { size: 2 * this.clients }, completeJobBatchDelay: 0 } } });
        return () => runner.stop();
    }
    async wakeBy(woken) { return this.runBy((data) => woken(data.due)); }
    async close() { await this.utils.release(); await this.pool.end(); }
}

const PEERS = { bullmq: BullMQ, "graphile-worker": GraphileWorker, "pg-boss": PgBoss };

// ---- One thread: some of the clients ----------------------------------------------------------------------------------------------

// All clients repeat a step until the time is over, or as often as `steps` says together. A step that finds nothing ends its client when `once` is set.
async function load(clients, ms, steps, once, step) {
    const latencies = [], end = now() + ms;
    let left = steps, units = 0, misses = 0;
    await Promise.all(Array.from({ length: clients }, async () => {
        while (steps > 0 ? left-- > 0 : now() < end) {
            const before = now();
            const did = await step();
            latencies.push((now() - before) * 1000);
            units += did ? 1 : 0;
            misses += did ? 0 : 1;
            if (!did && once)
                break;
        }
    }));
    return { units, misses, latencies };
}

async function work(peer) {
    const job = await peer.claim();
    if (job)
        await peer.done(job);
    return Boolean(job);
}

// graphile-worker's runner for this time, or until nothing is left.
async function runnerWorks(peer, ms) {
    let units = 0, seen = -1;
    const stop = await peer.runBy(() => { units++; });
    if (ms > 0)
        await pause(ms);
    else
        for (; seen !== units; await pause(3000)) // longer than it waits between two looks
            seen = units;
    await stop();
    return { units, misses: 0, latencies: [] };
}

async function runnerCycles(peer, clients, ms) {
    const waiting = [];
    const stop = await peer.runBy(() => waiting.shift()?.());
    const result = await load(clients, ms, 0, false, async () => {
        const complete = new Promise((done) => waiting.push(done));
        await peer.put();
        await complete;
        return true;
    });
    await stop();
    return result;
}

async function wakes(peer, count) {
    const latencies = [], begin = Date.now() + 3000 + count;
    const dates = Array.from({ length: count }, (_, i) => begin + i * APART_MS);
    let all;
    const over = new Promise((done) => { all = done; });
    const stop = await peer.wakeBy((due) => {
        latencies.push(Math.max(Date.now() - due, 0) * 1000);
        if (latencies.length === count)
            all();
    });
    await peer.putMany(dates);
    await over;
    await stop();
    return { units: count, misses: 0, latencies };
}

async function claims(peer, count) {
    const claimed = [];
    if (!peer.claim)
        return { units: 0, misses: 0, latencies: [] };
    await putAll(peer, count, 0);
    const result = await load(1, 0, count, false, async () => claimed.push(await peer.claim()));
    for (const job of claimed)
        await peer.done(job);
    return result;
}

async function putAll(peer, count, due) {
    for (let done = 0; done < count; done += MANY)
        await peer.putMany(new Array(Math.min(MANY, count - done)).fill(due));
    return { units: count, misses: 0, latencies: [] };
}

const put = (peer) => async () => { await peer.put(); return true; };
const empty = (peer, { clients }) => peer.runBy ? runnerWorks(peer, 0) : load(clients, 1e9, 0, true, () => work(peer));
// Of `claims` and `wakes` the first thread does all.
const COMMANDS = {
    puts: (peer, { clients, number }) => load(clients, number, 0, false, put(peer)),
    work: (peer, { clients, number }) => peer.runBy ? runnerWorks(peer, number) : load(clients, number, 0, false, () => work(peer)),
    cycle: (peer, { clients, number }) => peer.runBy ? runnerCycles(peer, clients, number)
        : load(clients, number, 0, false, async () => { await peer.put(); return work(peer); }),
    claims: (peer, { number, first }) => claims(peer, first ? number : 0),
    wakes: (peer, { number, first }) => first ? wakes(peer, number) : { units: 0, misses: 0, latencies: [] },
    later: (peer, { number }) => putAll(peer, number / THREADS, Date.now() + LATER_MS),
    empty,
    burst: async (peer, setting) => {
        await load(setting.clients, 0, setting.number / THREADS, false, put(peer));
        return empty(peer, setting);
    },
};

async function thread() {
    const { kind, setting } = workerData;
    const peer = new PEERS[kind]();
    await peer.open(setting);
    parentPort.on("message", async ({ command, number }) => {
        if (command === "close") {
            await peer.close();
            process.exit(0);
        }
        const { units, misses, latencies } = await COMMANDS[command](peer, { ...setting, number });
        parentPort.postMessage({ units, misses, latencies: Float64Array.from(latencies) });
    });
    parentPort.postMessage("open");
}

// ---- The whole --------------------------------------------------------------------------------------------------------------------

function percentile(sorted, part) {
    return sorted.length > 0 ? sorted[Math.min(Math.floor(part * sorted.length), sorted.length - 1)] : null;
}

// Of the server and its children, living and gone; those that went between two readings are in what their parent has waited for.
function serverCpu(pid) {
    let ticks = 0;
    for (const entry of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
            const fields = readFileSync(`/proc/${entry}/stat`, "latin1").split(") ").pop().split(" ").map(Number);
            if (entry === pid)
                ticks += fields[11] + fields[12] + fields[13] + fields[14];
            else if (String(fields[1]) === pid)
                ticks += fields[11] + fields[12];
        } catch {
            continue; // it has ended meanwhile
        }
    }
    return ticks * 1e6 / TICKS;
}

async function main() {
    const [kind, connection, clients, pid, bytes] = process.argv.slice(2);
    const threads = [];
    const hear = (one) => new Promise((done, failed) => { one.once("message", done); one.once("error", failed); });
    for (let i = 0; i < THREADS; i++) {
        const setting = { connection: JSON.parse(connection), body: "x".repeat(Number(bytes)), clients: Number(clients) / THREADS, first: i === 0 };
        threads.push(new Thread(fileURLToPath(import.meta.url), { workerData: { kind, setting } }));
        await hear(threads[i]); // one after the other: the first makes the tables
    }
    for await (const line of createInterface({ input: process.stdin })) {
        const [command, number] = line.split(" ");
        const cpu = process.cpuUsage(), server = serverCpu(pid), before = now();
        const parts = await Promise.all(threads.map((one) => {
            const answer = hear(one);
            one.postMessage({ command, number: Number(number) });
            return answer;
        }));
        const seconds = (now() - before) / 1000, used = process.cpuUsage(cpu);
        const all = Float64Array.from(parts.flatMap((part) => Array.from(part.latencies))).sort();
        const sum = (name) => parts.reduce((total, part) => total + part[name], 0);
        console.log(JSON.stringify({
            units: sum("units"), misses: sum("misses"), seconds, p50_us: percentile(all, 0.5), p99_us: percentile(all, 0.99),
            cpu_us: used.user + used.system, server_cpu_us: serverCpu(pid) - server }));
    }
    for (const one of threads)
        one.postMessage({ command: "close" });
}

await (isMainThread ? main() : thread());
