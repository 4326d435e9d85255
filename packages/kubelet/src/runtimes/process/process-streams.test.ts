import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Duplex, PassThrough, Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { CommandStreams, TerminalSize } from '@coracle/client/streaming'
import { type Environment, realEnvironment, sleep } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import type { ContainerConfig, Runtime } from '../runtime.ts'
import { createProcessRuntime } from './process-runtime.ts'

const real = realEnvironment()
const patient = new AbortController().signal
const onLinux = { skip: process.platform !== 'linux', meta: { needs: 'Linux' } }

interface Started {
  readonly runtime: Runtime
  readonly sandboxId: string
  readonly address: string
  readonly id: string
}

/** A container that runs, in a sandbox of its own. */
async function started(
  command: string,
  more: Partial<ContainerConfig> = {},
  environment: Environment = real,
): Promise<Started> {
  const runtime = createProcessRuntime({ environment, dataDirectory: temporaryDirectory(), nodeName: 'node-a' })
  onTestFinished(async () => {
    await Promise.all((await runtime.listContainers()).map(({ id }) => runtime.stopContainer(id, 0)))
    await runtime.close()
  })
  const pod = { podUid: 'uid-1', podName: 'web', podNamespace: 'default', hostname: 'web' }
  const sandbox = await runtime.runPodSandbox({ ...pod, attempt: 0, hostNetwork: false })
  const id = await runtime.createContainer(sandbox.id, {
    name: 'main',
    attempt: 0,
    image: 'none',
    command: ['sh', '-c', command],
    args: [],
    env: [{ name: 'GREETING', value: 'hello' }],
    mounts: [],
    messageFromLog: false,
    ...more,
  })
  await runtime.startContainer(id)
  return { runtime, sandboxId: sandbox.id, address: sandbox.addresses[0] ?? '127.0.0.1', id }
}

/** Both outputs and the exit code of a shell script that is run beside a container. */
async function exec(
  { runtime, id }: Started,
  script: string,
  { tty = false, signal = patient, ...streams }: CommandStreams & { tty?: boolean; signal?: AbortSignal } = {},
) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = Promise.all([text(stdout), text(stderr)])
  const code = await runtime.exec(id, ['sh', '-c', script], tty, { stdout, stderr, ...streams }, signal)
  stdout.end()
  stderr.end()
  const [out, err] = await texts
  return { code, out, err }
}

const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z')
  } catch {
    return false
  }
}

describe('a command that a client runs', () => {
  it('has the environment of the container, two outputs, and an exit code', async () => {
    const container = await started('exec sleep 1000')
    const script = 'echo "$GREETING"; echo no >&2; exit 4'
    expect(await exec(container, script)).toEqual({ code: 4, out: 'hello\n', err: 'no\n' })
    expect((await exec(container, 'kill -9 $$')).code).toBe(137)
  })

  it('reads its input to the end', async () => {
    const container = await started('exec sleep 1000')
    const sent = Buffer.alloc(3_000_000, 'abcdefg')
    const stdout = new PassThrough()
    const got = buffer(stdout)
    const stdin = Readable.from([sent])
    expect(await container.runtime.exec(container.id, ['cat'], false, { stdin, stdout }, patient)).toBe(0)
    stdout.end()
    expect((await got).equals(sent)).toBe(true)
  })

  it('may leave its input unread', async () => {
    const container = await started('exec sleep 1000')
    const stdin = Readable.from([Buffer.alloc(3_000_000)])
    expect(await exec(container, 'exit 2', { stdin })).toEqual({ code: 2, out: '', err: '' })
  })

  it('can open its streams by name, as scripts do', onLinux, async () => {
    const container = await started('exec sleep 1000')
    const script = 'cat /dev/stdin >/dev/stdout; echo err >/dev/stderr'
    for (const input of ['in', '']) {
      const stdin = Readable.from([input], { objectMode: false })
      expect(await exec(container, script, { stdin })).toEqual({ code: 0, out: input, err: 'err\n' })
    }
  })

  it('gets no descriptor of the agent but its streams', onLinux, async () => {
    const container = await started('exec sleep 1000')
    const { out } = await exec(container, 'ls /proc/$$/fd')
    expect(out.trim().split(/\s+/)).toEqual(['0', '1', '2'])
  })

  it('is over when it has ended, whoever it leaves behind, and nothing it wrote is lost', async () => {
    const container = await started('exec sleep 1000')
    const { out } = await exec(container, 'sleep 1000 & echo $!; head -c 500000 /dev/zero | tr "\\0" x')
    const [pid = '', rest = ''] = out.split('\n')
    expect(rest).toHaveLength(500_000)
    expect(isAlive(Number(pid))).toBe(true)
    await container.runtime.stopContainer(container.id, 0)
    await expect.poll(() => isAlive(Number(pid))).toBe(false)
  })

  it.each([
    ['told', 'trap "exit 0" HUP; echo $$; while :; do sleep 0.05; done'],
    ['killed where it does not heed that', 'trap "" HUP; echo $$; while :; do sleep 0.05; done'],
  ])('is ended with its client: it is %s', async (_what, script) => {
    const container = await started('exec sleep 1000')
    const gone = new AbortController()
    const stdout = new PassThrough()
    const done = container.runtime.exec(container.id, ['sh', '-c', script], false, { stdout }, gone.signal)
    const pid = Number((await once(stdout, 'data'))[0])
    gone.abort(new Error('the client has gone'))
    await expect(done).rejects.toThrow('the client has gone')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('waits for a client that does not read', async () => {
    const container = await started('exec sleep 1000')
    const stdout = new PassThrough()
    const script = 'head -c 5000000 /dev/zero; echo done >&2'
    const stderr = new PassThrough()
    let said = ''
    stderr.on('data', (piece) => {
      said += piece
    })
    const running = container.runtime.exec(container.id, ['sh', '-c', script], false, { stdout, stderr }, patient)
    await once(stdout, 'readable')
    await sleep(real.clock, 100)
    expect([said, stdout.readableLength < 1_000_000]).toEqual(['', true])
    const bytes = buffer(stdout)
    expect(await running).toBe(0)
    stdout.end()
    expect(await bytes).toHaveLength(5_000_000)
    expect(said).toBe('done\n')
  })

  it('that is not there is refused', async () => {
    const container = await started('exec sleep 1000')
    const running = container.runtime.exec(container.id, ['nope'], false, {}, patient)
    await expect(running).rejects.toThrow(
      'failed to exec in container: exec: "nope": executable file not found in $PATH',
    )
  })
})

/**
 * Has a shell end when its terminal has become this large, and say so. Rows and columns are set one after the other, with a signal for
 * each.
 */
const exitsAtSize = (size: string, code: number) =>
  `trap 'if [ "$(stty size)" = "${size}" ]; then stty size; exit ${code}; fi' WINCH`

describe('a command with a terminal', () => {
  async function* sizes(...all: readonly (TerminalSize | Promise<TerminalSize>)[]) {
    for (const size of all) yield await size
  }

  it('has one of the size that the client says, and its changes', onLinux, async () => {
    const container = await started('exec sleep 1000')
    const later = Promise.withResolvers<TerminalSize>()
    const stdout = new PassThrough()
    let out = ''
    stdout.on('data', (piece) => {
      out += piece
      if (out.includes('ready')) later.resolve({ width: 120, height: 50 })
    })
    const script = `${exitsAtSize('50 120', 3)}; tty; stty size; echo err >&2; echo ready; while :; do sleep 0.05; done`
    const resizes = sizes({ width: 80, height: 24 }, later.promise)
    const code = await container.runtime.exec(container.id, ['sh', '-c', script], true, { stdout, resizes }, patient)
    expect(code).toBe(3)
    expect(out).toMatch(/^\/dev\/pts\/\d+\r\n24 80\r\nerr\r\nready\r\n50 120\r\n$/)
  })

  it('shows what is typed, and takes control characters for what they mean', onLinux, async () => {
    const container = await started('exec sleep 1000')
    const stdin = new PassThrough()
    const stdout = new PassThrough()
    let out = ''
    stdout.on('data', (piece) => {
      out += piece
      if (out.endsWith('? ')) stdin.write('yes\r')
      if (out.endsWith('sleeping\r\n')) stdin.write('\x03')
    })
    const script = `printf '? '; read answer; echo "got $answer"; echo sleeping; sleep 1000`
    const code = await container.runtime.exec(container.id, ['bash', '-c', script], true, { stdin, stdout }, patient)
    expect([code, out]).toEqual([130, '? yes\r\ngot yes\r\nsleeping\r\n^C'])
  })

  it('ends with its client', onLinux, async () => {
    const container = await started('exec sleep 1000')
    const gone = new AbortController()
    const stdout = new PassThrough()
    const script = 'trap "" HUP; echo $$; while :; do sleep 0.05; done'
    const done = container.runtime.exec(container.id, ['sh', '-c', script], true, { stdout }, gone.signal)
    const pid = Number((await once(stdout, 'data'))[0])
    gone.abort(new Error('the client has gone'))
    await expect(done).rejects.toThrow('the client has gone')
    await expect.poll(() => isAlive(pid)).toBe(false)
  })
})

describe('a client that is attached to a container', () => {
  it('finds the end of one that has just ended, and none of one that ended before', async () => {
    const { clock } = real
    let aheadMs = 0
    const ahead = { ...real, clock: { ...clock, now: () => clock.now() + aheadMs } }
    const container = await started('echo out', { stdin: true, stdinOnce: true }, ahead)
    await expect.poll(async () => (await container.runtime.listContainers())[0]?.state).toBe('exited')
    const stdout = new PassThrough()
    await container.runtime.attach(container.id, { stdin: Readable.from(['x\n']), stdout }, patient)
    expect(await text(stdout.end())).toBe('out\n')
    aheadMs = 60_000
    await expect(container.runtime.attach(container.id, { stdout }, patient)).rejects.toThrow('is not running')
  })

  it('sees what it writes from then on, until it ends', async () => {
    const directory = temporaryDirectory()
    const go = join(directory, 'go')
    const container = await started(`echo before; while [ ! -e ${go} ]; do sleep 0.02; done; echo after; exit 3`)
    for await (const piece of container.runtime.readLog(container.id, { follow: true, timestamps: false }, patient)) {
      if (String(Buffer.from(piece)).includes('before')) break
    }
    const stdout = new PassThrough()
    const attached = container.runtime.attach(container.id, { stdout }, patient)
    writeFileSync(go, '')
    await attached
    stdout.end()
    expect(await text(stdout)).toBe('after\n')
  })

  it('gives it its input, which outlives the client', async () => {
    const container = await started('while read line; do echo "got $line"; done', { stdin: true })
    for (const word of ['one', 'two']) {
      const [stdin, stdout] = [new PassThrough(), new PassThrough()]
      const attached = container.runtime.attach(container.id, { stdin, stdout }, patient)
      stdin.write(`${word}\n`)
      expect(String((await once(stdout, 'data'))[0])).toBe(`got ${word}\n`)
      stdin.end()
      await attached
    }
    expect((await container.runtime.listContainers())[0]?.state).toBe('running')
  })

  it('leaves with the end of what it sends, where the input is for others, too', async () => {
    const container = await started('while read line; do echo "got $line"; done', { stdin: true })
    await container.runtime.attach(
      container.id,
      { stdin: Readable.from(['one\n']), stdout: new PassThrough() },
      patient,
    )
    for await (const piece of container.runtime.readLog(container.id, { follow: true, timestamps: false }, patient)) {
      if (String(Buffer.from(piece)).includes('got one')) break
    }
    expect((await container.runtime.listContainers())[0]?.state).toBe('running')
  })

  it('ends its input where that is for one client, and has missed nothing', async () => {
    const more = { stdin: true, stdinOnce: true }
    const container = await started('echo first; while read line; do echo "got $line"; done; echo end', more)
    for await (const piece of container.runtime.readLog(container.id, { follow: true, timestamps: false }, patient)) {
      if (String(Buffer.from(piece)).includes('first')) break
    }
    const stdout = new PassThrough()
    await container.runtime.attach(container.id, { stdin: Readable.from(['x\ny\n']), stdout }, patient)
    stdout.end()
    expect(await text(stdout)).toBe('first\ngot x\ngot y\nend\n')
  })

  it('is not told again what has been read as log before, where the input is for it alone', async () => {
    const more = { stdin: true, stdinOnce: true }
    const container = await started('echo first; read line; echo "got $line"', more)
    const log = (follow: boolean) => container.runtime.readLog(container.id, { follow, timestamps: false }, patient)
    for await (const piece of log(true)) if (String(Buffer.from(piece)).includes('first')) break
    let read = ''
    for await (const piece of log(false)) read += String(Buffer.from(piece))
    const stdout = new PassThrough()
    await container.runtime.attach(container.id, { stdin: Readable.from(['x\n']), stdout }, patient)
    stdout.end()
    expect([read, await text(stdout)]).toEqual(['first\n', 'got x\n'])
  })

  it('keeps the input of its terminal open, also where that is for one client, who has left', onLinux, async () => {
    const more = { stdin: true, stdinOnce: true, tty: true }
    const container = await started('while read line; do echo "got $line"; done', more)
    for (const line of ['x', 'y']) {
      const [stdin, stdout] = [new PassThrough(), new PassThrough()]
      const attached = container.runtime.attach(container.id, { stdin, stdout }, patient).finally(() => stdout.end())
      stdin.write(`${line}\n`)
      let out = ''
      for await (const piece of stdout) {
        out += piece
        if (out.includes(`got ${line}`)) stdin.end()
      }
      await attached
    }
    expect((await container.runtime.listContainers())[0]?.state).toBe('running')
  })

  it('shares its terminal', onLinux, async () => {
    const script = `${exitsAtSize('40 90', 0)}; tty; while :; do sleep 0.05; done`
    const container = await started(script, { stdin: true, stdinOnce: true, tty: true })
    const stdout = new PassThrough()
    let out = ''
    const there = Promise.withResolvers<TerminalSize>()
    stdout.on('data', (piece) => {
      out += piece
      there.resolve({ width: 90, height: 40 })
    })
    async function* resizes() {
      yield await there.promise
    }
    const stdin = new PassThrough()
    await container.runtime.attach(container.id, { stdin, stdout, resizes: resizes() }, patient)
    expect(out).toMatch(/^\/dev\/pts\/\d+\r\n40 90\r\n$/)
  })
})

describe('a port of a pod', () => {
  /** Both ends of a stream: the runtime's, and the client's. */
  function streamPair() {
    const [up, down] = [new PassThrough(), new PassThrough()]
    return {
      stream: Duplex.from({ readable: up, writable: down }).on('error', () => {}),
      write: up,
      read: down,
    }
  }

  it('is reached at the address of the pod', async () => {
    const { runtime, sandboxId, address } = await started('exec sleep 1000')
    const server = createServer({ allowHalfOpen: true }, async (socket) => socket.end(`${await text(socket)}!`))
    server.listen(0, address)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const { stream, write, read } = streamPair()
    const forwarded = runtime.portForward(sandboxId, port, stream, patient)
    write.end('hello')
    expect(await text(read)).toBe('hello!')
    await forwarded
  })

  it('where nothing listens is refused, in words that clients know', async () => {
    const { runtime, sandboxId, address } = await started('exec sleep 1000')
    const forwarded = runtime.portForward(sandboxId, 9, streamPair().stream, patient)
    await expect(forwarded).rejects.toThrow(`dial tcp ${address}:9: connect: connection refused`)
  })

  it('is let go of when the client goes', async () => {
    const { runtime, sandboxId, address } = await started('exec sleep 1000')
    const closed = Promise.withResolvers<void>()
    const server = createServer((socket) => socket.on('error', () => {}).once('close', () => closed.resolve()))
    server.listen(0, address)
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const connected = once(server, 'connection')
    const { port } = server.address() as { port: number }
    const gone = new AbortController()
    const forwarded = runtime.portForward(sandboxId, port, streamPair().stream, gone.signal)
    await connected
    gone.abort()
    await Promise.all([closed.promise, forwarded])
  })

  it('is not connected for a client that has gone before', async () => {
    const { runtime, sandboxId } = await started('exec sleep 1000')
    const gone = new PassThrough().destroy()
    await once(gone, 'close')
    // It would be refused.
    await runtime.portForward(sandboxId, 9, gone, patient)
  })
})
