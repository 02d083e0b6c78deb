// Drives a server with Microsoft's client for tests of debug adapters.
// Usage: node client.js MODULES PORT OBJECT SOURCE      (MODULES is the folder node_modules)
'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');

const [modules, port, program, source] = process.argv.slice(2);
const { DebugClient } = require(path.join(modules, '@vscode', 'debugadapter-testsupport'));

// The lines with a comment, by its word.
const lines = {};
fs.readFileSync(source, 'utf8').split('\n').forEach((text, n) => {
	const word = text.split('// ')[1];
	if (word) lines[word] = n + 1;
});

const thread = { threadId: 1 };

// stopped waits for a stop after a request, and returns the event and the innermost frame.
async function stopped(client, reason, request) {
	const [event] = await Promise.all([client.waitForEvent('stopped'), request()]);
	assert.strictEqual(event.body.reason, reason);
	assert.strictEqual(event.body.threadId, 1);
	const { body } = await client.stackTraceRequest({ threadId: 1 });
	return { event: event.body, frame: body.stackFrames[0], frames: body.stackFrames };
}

// launched starts a call. configure sets the breakpoints.
function launched(client, call, configure, more) {
	return Promise.all([
		client.waitForEvent('initialized').then(configure).then(() => client.configurationDone()),
		client.launch({ program, call, ...more }),
	]);
}

// ended waits for the end of the program after a request.
async function ended(client, request, code = 0) {
	const [exited] = await Promise.all([client.waitForEvent('exited'), client.waitForEvent('terminated'), request()]);
	assert.strictEqual(exited.body.exitCode, code);
}

// outputOf collects the output of a category.
function outputOf(client, category) {
	const output = { text: '' };
	client.on('output', (event) => {
		if (event.body.category === category) output.text += event.body.output;
	});
	return output;
}

const evaluate = async (client, expression, frame, context = 'repl') =>
	(await client.evaluateRequest({ expression, frameId: frame && frame.id, context })).body.result;

const at = (...breakpoints) => ({ source: { path: source }, breakpoints });
const go = (client) => () => client.continueRequest(thread);

const scenarios = {
	async 'initialize'(client) {
		const { body } = await client.initializeRequest();
		for (const name of ['supportsConfigurationDoneRequest', 'supportsFunctionBreakpoints', 'supportsConditionalBreakpoints', 'supportsHitConditionalBreakpoints',
			'supportsLogPoints', 'supportsDataBreakpoints', 'supportsInstructionBreakpoints', 'supportsSteppingGranularity', 'supportsRestartRequest',
			'supportsEvaluateForHovers', 'supportsSetVariable', 'supportsDisassembleRequest', 'supportsReadMemoryRequest']) {
			assert.strictEqual(body[name], true, name);
		}
		await assert.rejects(client.customRequest('nonsense'));
		await assert.rejects(client.launchRequest({ program, call: 'nothing()' }), /no function nothing/);
	},

	async 'run to the end'(client) {
		const output = outputOf(client, 'stdout');
		await Promise.all([client.configurationSequence(), client.launch({ program, call: 'fib(10)' }), client.waitForEvent('terminated')]);
		assert.match(output.text, /fib\(10\) = 55/);
	},

	async 'stop on entry'(client) {
		const { frame } = await stopped(client, 'entry', () => launched(client, 'fib(3)', () => {}, { stopOnEntry: true }));
		assert.strictEqual(frame.name, 'fib');
		await ended(client, go(client));
	},

	async 'source breakpoint'(client) {
		await client.hitBreakpoint({ program, call: 'sum(3, first)' }, { path: source, line: lines.LOOP });
		const { body } = await client.stackTraceRequest({ threadId: 1 });
		const scopes = (await client.scopesRequest({ frameId: body.stackFrames[0].id })).body.scopes;
		const locals = (await client.variablesRequest({ variablesReference: scopes.find((s) => s.name === 'Locals').variablesReference })).body.variables;
		assert.strictEqual(locals.find((v) => v.name === 'scale').value, '1.5');
		await client.setVariableRequest({ variablesReference: scopes.find((s) => s.name === 'Locals').variablesReference, name: 'total', value: '100' });
		await client.setBreakpointsRequest(at());
		const output = outputOf(client, 'stdout');
		await ended(client, go(client));
		assert.match(output.text, /sum\(3, first\) = 109/);
	},

	async 'conditional breakpoint'(client) {
		const { frame } = await stopped(client, 'breakpoint', () => launched(client, 'sum(8, first)',
			() => client.setBreakpointsRequest(at({ line: lines.LOOP, condition: 'i == 5' }))));
		assert.strictEqual(await evaluate(client, 'i', frame), '5');
		await ended(client, go(client));
	},

	async 'hit count'(client) {
		const { frame } = await stopped(client, 'breakpoint', () => launched(client, 'sum(8, first)',
			() => client.setBreakpointsRequest(at({ line: lines.LOOP, hitCondition: '4' }))));
		assert.strictEqual(await evaluate(client, 'i', frame), '3');
		await ended(client, go(client));
	},

	async 'log point'(client) {
		const output = outputOf(client, 'console');
		await ended(client, () => launched(client, 'sum(3, first)',
			() => client.setBreakpointsRequest(at({ line: lines.LOOP, logMessage: 'i is {i}, total {total}' }))));
		assert.match(output.text, /i is 0, total 0\ni is 1, total 1\ni is 2, total 2\n/);
	},

	async 'function breakpoint'(client) {
		const { frame, frames } = await stopped(client, 'function breakpoint', () => launched(client, 'fib(5)',
			() => client.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'fib', condition: 'n == 2' }] })));
		assert.strictEqual(frame.line, lines.FIB);
		assert.deepStrictEqual(frames.filter((f) => f.name === 'fib').length, 4);
		await client.setFunctionBreakpointsRequest({ breakpoints: [] });
		await ended(client, go(client));
	},

	async 'instruction breakpoint'(client) {
		const { frame } = await stopped(client, 'entry', () => launched(client, 'fib(3)', () => {}, { stopOnEntry: true }));
		const { instructions } = (await client.disassembleRequest({ memoryReference: frame.instructionPointerReference, instructionCount: 6 })).body;
		assert.strictEqual(instructions.length, 6);
		const third = instructions[2].address;
		const { body } = await client.customRequest('setInstructionBreakpoints', { breakpoints: [{ instructionReference: third }] });
		assert.strictEqual(body.breakpoints[0].verified, true);
		const { frame: next } = await stopped(client, 'instruction breakpoint', go(client));
		assert.strictEqual(BigInt(next.instructionPointerReference), BigInt(third));
		await client.customRequest('setInstructionBreakpoints', { breakpoints: [] });
		await ended(client, go(client));
	},

	async 'data breakpoint'(client) {
		const { frame } = await stopped(client, 'entry', () => launched(client, 'sum(2, first)', () => {}, { stopOnEntry: true }));
		const info = (await client.dataBreakpointInfoRequest({ name: 'counter', frameId: frame.id })).body;
		assert.ok(info.dataId, info.description);
		const { body } = await client.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
		assert.strictEqual(body.breakpoints[0].verified, true);
		await stopped(client, 'data breakpoint', go(client));
		assert.strictEqual(await evaluate(client, 'counter'), '4');
		await client.setDataBreakpointsRequest({ breakpoints: [] });
		await ended(client, go(client));
	},

	async 'steps'(client) {
		const recursion = lines.FIB + 2;
		const calls = (frames) => frames.filter((f) => f.name === 'fib').length;
		await stopped(client, 'breakpoint', () => launched(client, 'fib(3)', () => client.setBreakpointsRequest(at({ line: recursion }))));
		await client.setBreakpointsRequest(at());
		let { frame, frames } = await stopped(client, 'step', () => client.stepInRequest(thread));
		assert.deepStrictEqual([calls(frames), frame.line], [2, lines.FIB]);
		const before = frame.instructionPointerReference;
		({ frame, frames } = await stopped(client, 'step', () => client.nextRequest({ threadId: 1, granularity: 'instruction' })));
		assert.notStrictEqual(frame.instructionPointerReference, before);
		({ frame, frames } = await stopped(client, 'step', () => client.stepOutRequest(thread)));
		assert.deepStrictEqual([calls(frames), frame.line], [1, recursion]);
		({ frame, frames } = await stopped(client, 'step', () => client.nextRequest(thread)));
		assert.deepStrictEqual([calls(frames), frame.line], [1, recursion + 1]);
		await ended(client, go(client));
	},

	async 'an inlined call'(client) {
		let { frame, frames } = await stopped(client, 'breakpoint', () => launched(client, 'sum(2, first)', () => client.setBreakpointsRequest(at({ line: lines.TWICE }))));
		assert.deepStrictEqual(frames.slice(0, 2).map((f) => f.name), ['twice', 'sum']);
		({ frame } = await stopped(client, 'step', () => client.stepOutRequest(thread)));
		assert.strictEqual(frame.name, 'sum');
		await ended(client, go(client));
	},

	async 'evaluate'(client) {
		const { frame } = await stopped(client, 'breakpoint', () => launched(client, 'sum(4, first)', () => client.setBreakpointsRequest(at({ line: lines.CALL }))));
		assert.strictEqual(await evaluate(client, 'total + count', frame, 'watch'), '8');
		assert.strictEqual(await evaluate(client, 'list->name', frame, 'hover'), '"one\\000\\000\\000\\000"');
		assert.strictEqual(await evaluate(client, 'total = 50', frame), '50');
		assert.strictEqual(await evaluate(client, 'list->next->at', frame), '{x = 3, y = 4}');
		assert.strictEqual(await evaluate(client, 'fib(6) + 1', frame), '9'); // a call while stopped
		await assert.rejects(evaluate(client, 'nothing', frame), /No symbol "nothing"/);
		await assert.rejects(evaluate(client, '1 +', frame));
		await assert.rejects(evaluate(client, '*(int *)0', frame), /0x0/);
		const output = outputOf(client, 'stdout');
		await ended(client, go(client));
		assert.match(output.text, /= 58/);
	},

	async 'fault'(client) {
		const { event, frame } = await stopped(client, 'exception', () => launched(client, 'divide(1, 0)', () => client.setExceptionBreakpointsRequest({ filters: ['signals'] })));
		assert.match(event.description + event.text, /SIGFPE/);
		assert.strictEqual(frame.line, lines.DIVIDE);
		const { body } = await client.exceptionInfoRequest(thread);
		assert.match(body.exceptionId, /SIGFPE/);
	},

	async 'restart'(client) {
		const breakpoint = () => client.setBreakpointsRequest(at({ line: lines.LOOP, condition: 'i == 2' }));
		let { frame } = await stopped(client, 'breakpoint', () => launched(client, 'sum(5, first)', breakpoint));
		for (let n = 0; n < 3; n++) {
			({ frame } = await stopped(client, 'breakpoint', () => client.restartRequest({})));
			assert.strictEqual(await evaluate(client, 'i', frame), '2');
		}
		await client.setBreakpointsRequest(at());
		await ended(client, go(client));
		await ended(client, () => client.restartRequest({})); // after its end
	},

	async 'pause'(client) {
		await launched(client, 'forever()', () => {});
		const { frame } = await stopped(client, 'pause', () => client.pauseRequest(thread));
		assert.strictEqual(frame.name, 'forever');
		await evaluate(client, 'stop = 1', frame);
		const output = outputOf(client, 'stdout');
		await ended(client, go(client));
		assert.match(output.text, /forever\(\) = 7/);
	},

	async 'terminate'(client) {
		await launched(client, 'forever()', () => {});
		await Promise.all([client.waitForEvent('terminated'), client.terminateRequest({})]);
	},

	async 'disconnect while it is stopped'(client) {
		await stopped(client, 'breakpoint', () => launched(client, 'sum(5, first)', () => client.setBreakpointsRequest(at({ line: lines.LOOP }))));
		await client.disconnectRequest({ terminateDebuggee: true });
	},

	async 'disconnect while it runs'(client) {
		await launched(client, 'forever()', () => {});
		await client.disconnectRequest({});
	},

	async 'the connection breaks while it runs'(client) {
		await launched(client, 'forever()', () => {});
		client._socket.destroy();
	},

	async 'the connection breaks in the middle of a request'(client) {
		await launched(client, 'forever()', () => {});
		client._socket.write('Content-Length: 500\r\n\r\n{"seq":99,"type":"request","command":"pau');
		client._socket.destroy();
	},

	async 'the connection breaks between requests and their responses'(client) {
		await stopped(client, 'breakpoint', () => launched(client, 'sum(5, first)', () => client.setBreakpointsRequest(at({ line: lines.LOOP }))));
		for (let n = 0; n < 50; n++) client.stackTraceRequest({ threadId: 1 }).catch(() => {});
		client.continueRequest(thread).catch(() => {});
		client._socket.destroy();
	},

	async 'and the next client is served'(client) {
		const { frame } = await stopped(client, 'breakpoint', () => launched(client, 'sum(5, first)', () => client.setBreakpointsRequest(at({ line: lines.CALL }))));
		assert.strictEqual(await evaluate(client, 'total', frame), '5');
		await ended(client, go(client));
	},
};

// connected returns a client.
async function connected() {
	const client = new DebugClient('', '', 'clew');
	await client.start(Number(port));
	client._socket.on('error', () => {}); // of a connection that breaks
	return client;
}

// free waits until the server has noticed the end of the last client.
async function free() {
	for (;;) {
		const client = await connected();
		try {
			await client.initializeRequest();
			await client.disconnectRequest({});
			return;
		} catch (error) {
			assert.match(error.message, /another client is connected/);
			await new Promise((resolve) => setTimeout(resolve, 20));
		} finally {
			client.stopAdapter();
		}
	}
}

(async () => {
	let failed = 0;
	for (const [name, run] of Object.entries(scenarios)) {
		await free();
		const client = await connected();
		let timer;
		const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error('the server does not answer')), 60000); });
		try {
			await Promise.race([run(client), late]);
			console.log(`ok ${name}`);
		} catch (error) {
			failed++;
			console.log(`not ok ${name}: ${error.stack}`);
		}
		clearTimeout(timer);
		await Promise.race([client.stop(), new Promise((resolve) => setTimeout(resolve, 300))]);
	}
	console.log(`${Object.keys(scenarios).length} scenarios`);
	process.exit(failed === 0 ? 0 : 1);
})();
