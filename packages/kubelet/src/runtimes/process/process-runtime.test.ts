import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseTime } from '@coracle/api'
import { type Clock, realEnvironment } from '@coracle/environment'
import { describe, expect, it, onTestFinished } from 'vitest'
import { keptCodeOf } from '../../testing/remote-runtime.ts'
import { sandboxConfig } from '../../testing/sandboxes.ts'
import { temporaryDirectory } from '../../testing/temporary-directory.ts'
import { type ContainerConfig, ContainerConfigError, type ContainerRuntimeStatus, type Runtime } from '../runtime.ts'
import { type HostImages, parseHostImages } from './host-images.ts'
import { logFileBytesMax } from './log-segments.ts'
import { createProcessRuntime, settleMs } from './process-runtime.ts'
import { shimScript } from './shim.ts'

const environment = realEnvironment()
const patient = new AbortController().signal
const linux = process.platform === 'linux'
const needsLinux = { meta: { needs: 'Linux' } }

function openRuntime(
  dataDirectory: string,
  nodeName = 'node-a',
  images?: HostImages,
  clock: Clock = environment.clock,
): Runtime {
  const runtime = createProcessRuntime({
    environment: { ...environment, clock },
    dataDirectory,
    nodeName,
    ...(images === undefined ? {} : { images }),
  })
  onTestFinished(async () => {
    await Promise.all((await runtime.listContainers()).map(({ id }) => runtime.stopContainer(id, 0)))
    await runtime.close()
  })
  return runtime
}

function containerConfig(command: string | readonly string[], more: Partial<ContainerConfig> = {}): ContainerConfig {
  return {
    name: 'main',
    attempt: 0,
    image: 'none',
    command: typeof command === 'string' ? ['sh', '-c', command] : command,
    args: [],
    env: [],
    mounts: [],
    messageFromLog: false,
    ...more,
  }
}

async function run(
  runtime: Runtime,
  command: string | readonly string[],
  more: Partial<ContainerConfig> = {},
): Promise<string> {
  const sandbox = (await runtime.listPodSandboxes())[0] ?? (await runtime.runPodSandbox(sandboxConfig()))
  const id = await runtime.createContainer(sandbox.id, containerConfig(command, more))
  await runtime.startContainer(id)
  return id
}

async function status(runtime: Runtime, id: string): Promise<ContainerRuntimeStatus> {
  const found = (await runtime.listContainers()).find((container) => container.id === id)
  if (found === undefined) throw new Error(`no container ${id}`)
  return found
}

/** Resolves with the status once the container has ended. */
async function ended(runtime: Runtime, id: string): Promise<ContainerRuntimeStatus> {
  for (;;) {
    const news = told(runtime, id)
    const now = await status(runtime, id)
    if (now.state === 'exited') return now
    await news
  }
}

/** Resolves when the runtime tells of the container. */
function told(runtime: Runtime, id: string): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = runtime.subscribe(({ containerId }) => {
      if (containerId === id) resolve(unsubscribe())
    })
  })
}

async function log(
  runtime: Runtime,
  id: string,
  more: Partial<Parameters<Runtime['readLog']>[1]> = {},
): Promise<string> {
  let text = ''
  for await (const piece of runtime.readLog(id, { follow: false, timestamps: false, ...more }, patient))
    text += Buffer.from(piece).toString()
  return text
}

/** Follows a log until `text` has come. */
async function logged(runtime: Runtime, id: string, text: string): Promise<void> {
  const controller = new AbortController()
  let seen = ''
  for await (const piece of runtime.readLog(id, { follow: true, timestamps: false }, controller.signal)) {
    seen += Buffer.from(piece).toString()
    if (seen.includes(text)) return controller.abort()
  }
  throw new Error(`"${text}" never came: ${seen}`)
}

describe('running commands', () => {
  it('runs a command in its environment and reports how it ended', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo "$GREETING $HOSTNAME $1"; exit 3', {
      args: ['sh', 'world'],
      env: [{ name: 'GREETING', value: 'hello' }],
    })
    expect(await ended(runtime, id)).toMatchObject({
      state: 'exited',
      exitCode: 3,
      reason: 'Error',
    })
    expect(await log(runtime, id)).toBe('hello web world\n')
  })

  it.skipIf(!linux)('tells a container the address of its pod, which others do not have', needsLinux, async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo "on $CORACLE_POD_IP"')
    await ended(runtime, id)
    const [sandbox] = await runtime.listPodSandboxes()
    expect(await log(runtime, id)).toBe(`on ${sandbox?.addresses[0]}\n`)
  })

  it('hands on variables that no shell would', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, ['printenv', 'odd.name'], {
      env: [{ name: 'odd.name', value: 'odd' }],
    })
    await ended(runtime, id)
    expect(await log(runtime, id)).toBe('odd\n')
  })

  it.runIf(linux)('shows no variable to who lists processes', needsLinux, async () => {
    const runtime = openRuntime(temporaryDirectory())
    const env = ['PLAIN', 'odd.name'].map((name) => ({ name, value: 'only-the-container-knows' }))
    const id = await run(runtime, 'env; exec sleep 1000', { env })
    await logged(runtime, id, 'only-the-container-knows')
    const commands = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        } catch {
          return ''
        }
      })
    expect(commands.filter((command) => command.includes('only-the-container-knows'))).toEqual([])
  })

  it.runIf(linux)('loses nothing of its log to who opens its output again', needsLinux, async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo 1; echo 2 >/dev/stdout; echo 3 >&2; echo 4 >/dev/stderr; echo 5')
    await ended(runtime, id)
    expect(await log(runtime, id)).toBe('1\n2\n3\n4\n5\n')
  })

  it('has all in its log when it has ended, also where it is killed', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const ids = await Promise.all(
      ['exit 3', 'kill -KILL 0', 'kill -KILL $PPID', 'sleep 1000 & kill -KILL $$'].map((end, index) =>
        run(runtime, `seq 20000; ${end}`, { name: `c${index}` }),
      ),
    )
    for (const id of ids) {
      await ended(runtime, id)
      expect(await log(runtime, id)).toContain('\n19999\n20000\n')
    }
  })

  it('hands on variables that its own shells use, as they are', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const names = ['code', 'line', 'UID', 'SHELLOPTS', 'LD_LIBRARY_PATH', 'BASH_ENV']
    const id = await run(runtime, ['printenv', ...names], {
      env: names.map((name) => ({ name, value: `/${name} "$x"` })),
    })
    await ended(runtime, id)
    expect(await log(runtime, id)).toBe(names.map((name) => `/${name} "$x"\n`).join(''))
  })

  it("does not hand on the node agent's own environment", async () => {
    process.env.CORACLE_TEST_SECRET = 'secret'
    onTestFinished(() => {
      delete process.env.CORACLE_TEST_SECRET
    })
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo "<$CORACLE_TEST_SECRET>"')
    await ended(runtime, id)
    expect(await log(runtime, id)).toBe('<>\n')
  })

  it('starts in the working directory, or in one of its own', async () => {
    const directory = temporaryDirectory()
    const runtime = openRuntime(directory)
    const [own, given] = [await run(runtime, 'pwd'), await run(runtime, 'pwd', { attempt: 1, workingDirectory: '/' })]
    await Promise.all([ended(runtime, own), ended(runtime, given)])
    expect(await log(runtime, own)).toContain(directory)
    expect(await log(runtime, given)).toBe('/\n')
  })

  it.each<[string, Partial<ContainerConfig>, RegExp]>([
    [
      'a command that is not there',
      { command: ['no-such-command'] },
      /exec: "no-such-command": executable file not found in \$PATH/,
    ],
    ['a path that is not there', { command: ['/no/such'] }, /exec: "\/no\/such": stat \/no\/such: no such file/],
    ['a working directory that is not there', { workingDirectory: '/no/such' }, /chdir to cwd \("\/no\/such"\)/],
    [
      'a command that no host takes',
      { args: Array.from({ length: 40 }, () => 'x'.repeat(100_000)) },
      /argument list too long/,
    ],
    ['a command with a NUL in it', { args: ['a\0b'] }, /invalid argument.*NUL/],
    ['an environment with a NUL in it', { env: [{ name: 'A', value: 'a\0b' }] }, /invalid argument.*NUL/],
  ])('fails to start %s', async (_, more, message) => {
    const runtime = openRuntime(temporaryDirectory())
    await expect(run(runtime, 'true', more)).rejects.toThrow(message)
    const [container] = await runtime.listContainers()
    expect(container).toMatchObject({
      state: 'exited',
      exitCode: 128,
      reason: 'StartError',
    })
    expect(container?.message).toMatch(message)
  })

  it('runs arguments alone, as an image without an entry point would', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const { id } = await runtime.runPodSandbox(sandboxConfig())
    await expect(runtime.createContainer(id, { ...containerConfig([]), args: ['true'] })).resolves.toBeDefined()
  })

  it('runs what the host says of an image, and commands beside it in the same environment', async () => {
    const images = parseHostImages({
      web: {
        command: ['sh', '-c', 'echo "$0 $COLOR"; sleep 1000'],
        args: ['hello'],
        env: [{ name: 'COLOR', value: 'red' }],
      },
    })
    const runtime = openRuntime(temporaryDirectory(), 'node-a', images)
    const id = await run(runtime, [], { image: 'docker.io/library/web:1' })
    await logged(runtime, id, 'hello red')
    const { output } = await runtime.execSync(id, ['sh', '-c', 'echo $COLOR'], patient)
    expect(output).toBe('red\n')
  })

  it('refuses what it cannot do, and says what to do instead', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const { id } = await runtime.runPodSandbox(sandboxConfig())
    await expect(runtime.createContainer(id, containerConfig([]))).rejects.toThrow(
      /container "main" has no command.*Set command/,
    )
    await expect(
      runtime.createContainer(id, {
        ...containerConfig([]),
        args: ['--port=80'],
      }),
    ).rejects.toThrow(/container "main" has no command/)
    const mounted = containerConfig('true', {
      mounts: [{ name: 'data', containerPath: '/data' }],
    })
    await expect(runtime.createContainer(id, mounted)).rejects.toThrow(ContainerConfigError)
    await expect(runtime.createContainer(id, mounted)).rejects.toThrow(/volumeMount "data" cannot be mounted at \/data/)
  })

  it('ends what a container has left behind when its main process ends', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'sleep 1000 & echo $!; exit 0')
    expect(await ended(runtime, id)).toMatchObject({
      exitCode: 0,
      reason: 'Completed',
    })
    const pid = Number(await log(runtime, id))
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it('runs a command beside a container, and kills it when its time is up', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'sleep 1000', {
      env: [{ name: 'A', value: 'b' }],
    })
    expect(await runtime.execSync(id, ['sh', '-c', 'echo $A; exit 4'], patient)).toEqual({ exitCode: 4, output: 'b\n' })
    const controller = new AbortController()
    const late = runtime.execSync(id, ['sleep', '1000'], controller.signal)
    controller.abort(new Error('too late'))
    await expect(late).rejects.toThrow('too late')
  })

  describe('last words', () => {
    const path = '"$CORACLE_TERMINATION_MESSAGE_PATH"'
    const message = async (command: string, more: Partial<ContainerConfig> = {}) => {
      const runtime = openRuntime(temporaryDirectory())
      const id = await run(runtime, command, { terminationMessagePath: '/dev/termination-log', ...more })
      return (await ended(runtime, id)).message
    }

    it('are read from the file whose path the container is told', async () => {
      expect(await message(`printf done >${path}`)).toBe('done')
    })

    it('are read from where the container wants them, below its working directory', async () => {
      expect(await message('mkdir out; printf done >out/message', { terminationMessagePath: 'out/message' })).toBe(
        'done',
      )
      const workingDirectory = temporaryDirectory()
      const more = { workingDirectory, terminationMessagePath: join(workingDirectory, 'message') }
      expect(await message('printf done >message', more)).toBe('done')
    })

    it('are no more than their end, where they are too long', async () => {
      expect(await message(`printf x >${path}; head -c 5000 /dev/zero | tr '\\0' y >>${path}`)).toBe('y'.repeat(4096))
    })

    it('are not those of an earlier run', async () => {
      const runtime = openRuntime(temporaryDirectory())
      const config = { terminationMessagePath: 'message' }
      const first = await run(runtime, 'printf first >message', config)
      expect((await ended(runtime, first)).message).toBe('first')
      const second = await run(runtime, 'true', { ...config, attempt: 1 })
      expect(await ended(runtime, second)).not.toHaveProperty('message')
    })

    it('do not hold up the node agent, whatever stands in their place', async () => {
      expect(await message('mkfifo message', { terminationMessagePath: 'message' })).toBeUndefined()
    })

    it('are not waited for at a path that no file can have', async () => {
      await expect(message('true', { terminationMessagePath: 'a\0b' })).rejects.toThrow(
        'invalid argument: the path of the termination message has a NUL in it',
      )
    })

    it('stand before the log', async () => {
      const more = { messageFromLog: true }
      expect(await message(`echo log; printf word >${path}; exit 1`, more)).toBe('word')
      expect(await message('echo log; exit 1', more)).toBe('log\n')
      expect(await message('echo log', more)).toBeUndefined()
      const long = await message('i=0; while [ $i -lt 100 ]; do echo $i; i=$((i+1)); done; exit 1', more)
      expect([long?.split('\n').length, long?.startsWith('20\n')]).toEqual([81, true])
    })
  })

  it('makes the last lines of a failed run its message where that is asked for', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo boom; exit 1', {
      messageFromLog: true,
    })
    expect((await ended(runtime, id)).message).toBe('boom\n')
  })
})

describe.skipIf(!linux)('processes that leave the session of their container', () => {
  /** Prints its process id once it leads a session of its own. */
  const leaving = (then: string) =>
    `setsid sh -c 'echo $$; touch up; exec sleep 1000' & until [ -e up ]; do sleep 0.02; done; ${then}`
  const pidIn = async (runtime: Runtime, id: string) => {
    const text = await log(runtime, id)
    expect(text).toMatch(/^\d+\n/)
    return Number.parseInt(text, 10)
  }

  it('are gone when its main process has ended', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, leaving('true'))
    expect(await ended(runtime, id)).toMatchObject({ exitCode: 0 })
    expect(isRunning(await pidIn(runtime, id))).toBe(false)
  })

  it('are gone when it was stopped, and those of other containers are not', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const [id, other] = [await run(runtime, leaving('wait')), await run(runtime, leaving('wait'), { attempt: 1 })]
    await Promise.all([logged(runtime, id, '\n'), logged(runtime, other, '\n')])
    await runtime.stopContainer(id, 10_000)
    const pids = await Promise.all([id, other].map((each) => pidIn(runtime, each)))
    expect(pids.map(isRunning)).toEqual([false, true])
    await runtime.stopContainer(other, 0)
    expect(pids.map(isRunning)).toEqual([false, false])
  })

  it('are known by a mark that the container cannot set for itself', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, leaving('true'), { env: [{ name: 'CORACLE_CONTAINER_ID', value: 'another' }] })
    await ended(runtime, id)
    expect(isRunning(await pidIn(runtime, id))).toBe(false)
  })

  it('are gone with what a probe or hook has started', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'sleep 1000')
    const { output } = await runtime.execSync(id, ['sh', '-c', 'setsid sleep 1000 >/dev/null 2>&1 & echo $!'], patient)
    expect(isRunning(Number(output))).toBe(true)
    await runtime.stopContainer(id, 10_000)
    expect(isRunning(Number(output))).toBe(false)
  })

  it('are gone soon after a restart of the node agent, if their container ended without it or is stopped then', async () => {
    const directory = temporaryDirectory()
    const [agent, ids] = await startAgent(directory, [
      leaving('until [ -e stop ]; do sleep 0.02; done'),
      leaving('sleep 1000'),
    ])
    const [ending = '', staying = ''] = ids
    const logText = (index: number) =>
      readFileSync(join(directory, 'kubelet', 'node-a', 'logs', 'default_web_uid-1', `c${index}`, '0.log'), 'utf8')
    await expect.poll(() => logText(0)).toMatch(/\d+\n/)
    await expect.poll(() => logText(1)).toMatch(/\d+\n/)
    const [one, two] = [Number(logText(0)), Number(logText(1))]
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    writeFileSync(join(directory, 'kubelet', 'node-a', 'work', 'uid-1', 'c0', 'stop'), '')
    await expect.poll(() => existsSync(join(directory, 'kubelet', 'node-a', 'exits', ending))).toBe(true)
    expect(isRunning(one)).toBe(true)

    const runtime = openRuntime(directory)
    await expect.poll(() => isRunning(one)).toBe(false)
    expect(isRunning(two)).toBe(true)
    await runtime.stopContainer(staying, 0)
    expect(isRunning(two)).toBe(false)
  })
})

describe('stopping', () => {
  it('asks with SIGTERM and takes the answer', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.02; done")
    await logged(runtime, id, 'up')
    await runtime.stopContainer(id, 10_000)
    expect(await status(runtime, id)).toMatchObject({
      state: 'exited',
      exitCode: 5,
    })
    expect(await log(runtime, id)).toMatch(/bye\n$/)
  })

  it('kills what does not listen, with all it has started', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, "trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000")
    await logged(runtime, id, '\n')
    await runtime.stopContainer(id, 50)
    expect(await status(runtime, id)).toMatchObject({
      state: 'exited',
      exitCode: 137,
      reason: 'Error',
    })
    const child = Number(await log(runtime, id))
    await expect.poll(() => isRunning(child)).toBe(false)
  })

  it('lets a second stop shorten the first', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, "trap '' TERM; echo up; while :; do sleep 0.02; done")
    await logged(runtime, id, 'up')
    const first = runtime.stopContainer(id, 600_000)
    await runtime.stopContainer(id, 0)
    await first
    expect(await status(runtime, id)).toMatchObject({ exitCode: 137 })
  })

  it('uses the stop signal asked for', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, "trap 'exit 6' INT; echo up; while :; do sleep 0.02; done", { stopSignal: 'SIGINT' })
    await logged(runtime, id, 'up')
    await runtime.stopContainer(id, 10_000)
    expect(await status(runtime, id)).toMatchObject({ exitCode: 6, stopSignal: 'SIGINT' })
  })

  it.skipIf(!linux).each([
    ['SIGRTMIN+2', 36],
    ['SIGRTMAX-1', 63],
    ['SIGXCPU', 24],
  ])('asks a container to end with %s, which its leader survives', needsLinux, async (stopSignal, number) => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, `trap 'exit 6' ${number}; echo up; while :; do sleep 0.02; done`, { stopSignal })
    await logged(runtime, id, 'up')
    await runtime.stopContainer(id, 10_000)
    expect(await status(runtime, id)).toMatchObject({ exitCode: 6 })
  })

  it('reports 128 and the signal for a command that a signal has ended', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'kill -SEGV $$')
    expect(await ended(runtime, id)).toMatchObject({ exitCode: 139 })
  })

  it('keeps and removes pods with the longest names there are', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const [podName, podNamespace, podUid] = ['p'.repeat(253), 'n'.repeat(63), 'u'.repeat(36)]
    await runtime.runPodSandbox({ ...sandboxConfig(podUid), podName, podNamespace })
    const id = await run(runtime, 'echo here')
    await ended(runtime, id)
    expect(await log(runtime, id)).toBe('here\n')
    await runtime.removePodSandbox((await runtime.listPodSandboxes())[0]?.id ?? '')
    expect(await runtime.listContainers()).toEqual([])
  })

  it('removes a sandbox with its containers, logs and directories', async () => {
    const directory = temporaryDirectory()
    const runtime = openRuntime(directory)
    await run(runtime, 'echo x; sleep 1000')
    const [sandbox] = await runtime.listPodSandboxes()
    await runtime.removePodSandbox(sandbox?.id ?? '')
    expect(await runtime.listContainers()).toEqual([])
    for (const name of ['containers', 'exits', 'logs', 'sandboxes', 'work']) {
      expect(readdirSync(join(directory, 'kubelet', 'node-a', name))).toEqual([])
    }
  })
})

describe.skipIf(!linux)('addresses', needsLinux, () => {
  it('gives each pod its own, and nodes of one directory different ones', async () => {
    const directory = temporaryDirectory()
    const [a, b] = [openRuntime(directory), openRuntime(directory, 'node-b')]
    const first = await a.runPodSandbox(sandboxConfig('1'))
    const second = await a.runPodSandbox(sandboxConfig('2'))
    const other = await b.runPodSandbox(sandboxConfig('3'))
    const [one = '', two, three = ''] = [first, second, other].map(({ addresses }) => addresses[0])
    expect(one).toMatch(/^127\.[1-9]\d*\.\d+\.1$/)
    expect(two).toBe(one.replace(/1$/, '2'))
    expect([three.endsWith('.1'), three === one]).toEqual([true, false])
  })

  it('gives none that a node of another directory has: they share this host', async () => {
    const [a, b] = [openRuntime(temporaryDirectory()), openRuntime(temporaryDirectory())]
    const sandboxes = await Promise.all([a, b].map((runtime) => runtime.runPodSandbox(sandboxConfig('1'))))
    expect(new Set(sandboxes.map(({ addresses }) => addresses[0])).size).toBe(2)
  })

  it('keeps them over a restart', async () => {
    const directory = temporaryDirectory()
    const before = openRuntime(directory)
    const { addresses } = await before.runPodSandbox(sandboxConfig('1'))
    await before.close()
    const after = openRuntime(directory)
    expect((await after.listPodSandboxes()).map((sandbox) => sandbox.addresses)).toEqual([addresses])
    expect((await after.runPodSandbox(sandboxConfig('2'))).addresses).toEqual([addresses[0]?.replace(/1$/, '2')])
  })
})

describe('a container that has only just started', () => {
  /** A clock whose timers of `heldMs` fire when the test says so, and whose wall clock may stand still. */
  const heldClock = (heldMs: number, now = () => environment.clock.now()) => {
    const { clock } = environment
    const due: (() => void)[] = []
    const held: Clock = {
      now,
      monotonicMs: () => clock.monotonicMs(),
      setTimer(ms, callback, options) {
        if (ms !== heldMs) return clock.setTimer(ms, callback, options)
        due.push(callback)
        return { cancel() {} }
      },
      defer: (callback) => clock.defer(callback),
      hold: (work) => work,
      catchUp: () => undefined,
    }
    return { clock: held, due }
  }

  it('is ready when it has run for a while, and that is told', async () => {
    const { clock, due } = heldClock(settleMs)
    const runtime = openRuntime(temporaryDirectory(), 'node-a', undefined, clock)
    const id = await run(runtime, 'sleep 1000')
    expect(await status(runtime, id)).toMatchObject({ state: 'running', unready: true })
    const news = told(runtime, id)
    for (const pass of due) pass()
    await news
    expect(await status(runtime, id)).not.toHaveProperty('unready')
  })

  it('is left to its probes where it has any that tell of readiness', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'sleep 1000', { probes: [{ exec: { command: ['true'] } }] })
    expect(await status(runtime, id)).not.toHaveProperty('unready')
  })

  it('waits on over a restart of the node agent, for what is left of that while', async () => {
    const dataDirectory = temporaryDirectory()
    const first = createProcessRuntime({ environment, dataDirectory, nodeName: 'node-a' })
    const id = await run(first, 'echo up; sleep 1000')
    await logged(first, id, 'up')
    const { startedAtMs = 0 } = await status(first, id)
    await first.close()
    const { clock, due } = heldClock(settleMs - 100, () => startedAtMs + 100)
    const runtime = openRuntime(dataDirectory, 'node-a', undefined, clock)
    expect(await status(runtime, id)).toMatchObject({ unready: true })
    const news = told(runtime, id)
    expect(due).toHaveLength(1)
    for (const pass of due) pass()
    await news
    expect(await status(runtime, id)).not.toHaveProperty('unready')
  })
})

describe('after the node agent was killed', () => {
  it('takes up what runs as it is, and learns how the others have ended', async () => {
    const directory = temporaryDirectory()
    const [agent, ids] = await startAgent(directory, ['echo up; sleep 1000', 'sleep 0.2; exit 9', 'sleep 1000'])
    const [running = '', ending = '', killed = ''] = ids
    const recordPath = join(directory, 'kubelet', 'node-a', 'containers', running, 'container.json')
    const { startedAtMs } = JSON.parse(readFileSync(recordPath, 'utf8')) as {
      startedAtMs: number
    }
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    await expect.poll(() => existsSync(join(directory, 'kubelet', 'node-a', 'exits', ending))).toBe(true)
    const shim = Number(
      readFileSync(join(directory, 'kubelet', 'node-a', 'containers', killed, 'identity'), 'utf8').split('\n')[0],
    )
    process.kill(-shim, 'SIGKILL')
    await expect.poll(() => isRunning(shim)).toBe(false)

    const runtime = openRuntime(directory)
    expect(await status(runtime, running)).toMatchObject({
      state: 'running',
      startedAtMs,
    })
    expect(await status(runtime, ending)).toMatchObject({
      state: 'exited',
      exitCode: 9,
    })
    expect(await status(runtime, killed)).toMatchObject({
      state: 'exited',
      exitCode: 137,
    })
    expect(await log(runtime, running)).toBe('up\n')
  })

  it('runs nothing twice: a container that was only just being started is given up, and its process with it', async () => {
    const directory = temporaryDirectory()
    const first = openRuntime(directory)
    const sandbox = await first.runPodSandbox(sandboxConfig())
    const id = await first.createContainer(sandbox.id, containerConfig('true'))
    await first.close()
    // As if the node agent had died right after it had made up its mind to start the process.
    const records = join(directory, 'kubelet', 'node-a')
    const [record, identity] = ['container.json', 'identity'].map((name) => join(records, 'containers', id, name))
    if (record === undefined || identity === undefined) throw new Error('no record')
    writeFileSync(record, JSON.stringify({ ...JSON.parse(readFileSync(record, 'utf8')), startedAtMs: 1 }))
    const next = openRuntime(directory)
    expect(await status(next, id)).toMatchObject({ state: 'exited', exitCode: 137 })

    const shim = [
      '-c',
      shimScript,
      'coracle-shim',
      identity,
      join(records, 'exits', id),
      '',
      '',
      'sh',
      '-c',
      'echo ran again',
    ]
    const late = spawn('/bin/sh', shim, { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
    let said = ''
    late.stdio[3]?.on('data', (piece: Buffer) => {
      said += piece.toString()
    })
    await once(late, 'close')
    expect(said).toBe('')
  })

  it('notices the end of an adopted container, and can stop one', async () => {
    const directory = temporaryDirectory()
    const [agent, ids] = await startAgent(directory, [
      'until [ -e stop ]; do sleep 0.02; done; exit 8',
      "trap '' TERM; touch up; while :; do sleep 0.02; done",
    ])
    const [ending = '', stubborn = ''] = ids
    await expect.poll(() => existsSync(join(directory, 'kubelet', 'node-a', 'work', 'uid-1', 'c1', 'up'))).toBe(true)
    agent.kill('SIGKILL')
    await once(agent, 'exit')

    const runtime = openRuntime(directory)
    const end = ended(runtime, ending)
    await runtime.execSync(ending, ['touch', 'stop'], patient)
    expect(await end).toMatchObject({ exitCode: 8 })
    await runtime.stopContainer(stubborn, 50)
    expect(await status(runtime, stubborn)).toMatchObject({
      state: 'exited',
      exitCode: 137,
    })
  })

  it.skipIf(!linux)('ends what a killed shim has left', needsLinux, async () => {
    const directory = temporaryDirectory()
    const [agent, ids] = await startAgent(directory, ['echo $$; exec sleep 1000'])
    const [id = ''] = ids
    const logPath = join(directory, 'kubelet', 'node-a', 'logs', 'default_web_uid-1', 'c0', '0.log')
    await expect.poll(() => readFileSync(logPath, 'utf8')).toMatch(/\d+\n/)
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    const shim = Number(
      readFileSync(join(directory, 'kubelet', 'node-a', 'containers', id, 'identity'), 'utf8').split('\n')[0],
    )
    process.kill(shim, 'SIGKILL')
    await expect.poll(() => isRunning(shim)).toBe(false)

    const runtime = openRuntime(directory)
    expect(await status(runtime, id)).toMatchObject({
      state: 'exited',
      exitCode: 137,
    })
    const command = Number(readFileSync(logPath, 'utf8'))
    await expect.poll(() => isRunning(command)).toBe(false)
  })
})

describe('logs', () => {
  it('follows a log until the container has ended', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo one; sleep 0.1; echo two; sleep 0.1; echo three')
    expect(await log(runtime, id, { follow: true })).toBe('one\ntwo\nthree\n')
  })

  it('gives the last lines, and no more bytes than asked for', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'seq 1 100000; printf last')
    await ended(runtime, id)
    expect(await log(runtime, id, { tailLines: 2 })).toBe('100000\nlast')
    expect(await log(runtime, id, { tailLines: 0 })).toBe('')
    expect(await log(runtime, id, { limitBytes: 5 })).toBe('1\n2\n3')
    const everything = await log(runtime, id)
    expect(await log(runtime, id, { tailLines: 1_000_000 })).toBe(everything)
    expect(everything.length).toBe(588_895 + 4)
  })

  it('tells when lines were written, and leaves out older ones', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'echo early; until [ -e later ]; do sleep 0.02; done; echo late')
    await logged(runtime, id, 'early')
    await runtime.execSync(id, ['touch', 'later'], patient)
    await ended(runtime, id)
    const lines = (await log(runtime, id, { timestamps: true })).trimEnd().split('\n')
    expect(lines.map((line) => line.replace(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z /, ''))).toEqual(['early', 'late'])
    const [early = 0, late = 0] = lines.map((line) => parseTime(line.slice(0, 30)))
    expect(late).toBeGreaterThan(early)
    expect(await log(runtime, id, { sinceTimeMs: late })).toBe('late\n')
    expect(await log(runtime, id, { sinceTimeMs: early })).toBe('early\nlate\n')
  })

  it('rotates a log that grows too long, and reads on over the rotation', async () => {
    const directory = temporaryDirectory()
    const runtime = openRuntime(directory)
    const line = 'x'.repeat(99)
    const logs = join(directory, 'kubelet', 'node-a', 'logs', 'default_web_uid-1', 'main')
    // What is written while the file is being cut may be lost: the end is written when that is over.
    const untilRotated = `until [ "$(wc -c < '${join(logs, '0.log')}')" -lt ${logFileBytesMax} ]; do sleep 0.01; done`
    const id = await run(runtime, `yes ${line} | head -n 120000; ${untilRotated}; echo end`)
    const followed = await log(runtime, id, { follow: true })
    expect(followed.endsWith('end\n')).toBe(true)
    const files = readdirSync(logs)
    expect(files.filter((name) => /^0\.log\.\d{15}$/.test(name)).length).toBeGreaterThanOrEqual(1)
    // Of the line before, its end may be among what was lost.
    expect((await log(runtime, id, { tailLines: 2 })).split('\n').at(-2)).toMatch(/end$/)
  })
})

describe.skipIf(!linux)('what writes the log of a container', needsLinux, () => {
  /** Leaves something behind that nobody knows for the container's, and that may write to its log. */
  const leavingUnknown = (then: string) => `setsid env -i sleep 1000 & echo $!; ${then}`

  it('ends with the container', async () => {
    const directory = temporaryDirectory()
    const runtime = openRuntime(directory)
    for (const [attempt, script] of [
      'echo end',
      'exec sleep 1000',
      'trap : TERM; while :; do sleep 1; done',
    ].entries()) {
      const id = await run(runtime, script, { attempt })
      const writer = await writerOf(directory, id)
      if (attempt > 0) await runtime.stopContainer(id, attempt === 1 ? 10_000 : 100)
      await ended(runtime, id)
      await expect.poll(() => isRunning(writer)).toBe(false)
    }
  })

  it('ends with a container that outlived its agent, and stays as long as that does', async () => {
    const directory = temporaryDirectory()
    const [agent, [id = '']] = await startAgent(directory, ['exec sleep 1000'])
    const writer = await writerOf(directory, id)
    agent.kill('SIGKILL')
    await once(agent, 'exit')
    expect(isRunning(writer)).toBe(true)
    const runtime = openRuntime(directory)
    expect(isRunning(writer)).toBe(true)
    await runtime.stopContainer(id, 0)
    await expect.poll(() => isRunning(writer)).toBe(false)
  })

  it('ends when its log is removed, whoever may still write, by this agent or the next one', async () => {
    for (const isNext of [false, true]) {
      const directory = temporaryDirectory()
      const first = openRuntime(directory)
      const id = await run(first, leavingUnknown('exec sleep 1000'))
      const writer = await writerOf(directory, id)
      await expect.poll(() => log(first, id)).toMatch(/^\d+\n$/)
      const left = Number.parseInt(await log(first, id), 10)
      onTestFinished(() => void process.kill(left, 'SIGKILL'))
      // Until then it has the variables that it is known by.
      await expect.poll(() => readFileSync(`/proc/${left}/environ`, 'utf8')).toBe('')
      await first.stopContainer(id, 0)
      expect(isRunning(writer)).toBe(true)
      if (isNext) await first.close()
      const runtime = isNext ? openRuntime(directory) : first
      await runtime.removeContainer(id)
      await expect.poll(() => isRunning(writer)).toBe(false)
    }
  })
})

/** The process that writes the log of a container. */
async function writerOf(directory: string, id: string): Promise<number> {
  const path = join(directory, 'kubelet', 'node-a', 'containers', id, 'log-writer')
  await expect.poll(() => existsSync(path) && readFileSync(path, 'utf8')).toMatch(/^\d+\n.*\n.*\n$/)
  return Number.parseInt(readFileSync(path, 'utf8'), 10)
}

/** A process that has started containers, and their ids. */
async function startAgent(directory: string, commands: readonly string[]) {
  const script = fileURLToPath(new URL('../../testing/runtime-process.ts', import.meta.url))
  const agent = spawn(process.execPath, [script, directory, ...commands], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: keptCodeOf({}) },
  })
  onTestFinished(() => {
    agent.kill('SIGKILL')
  })
  const [output] = (await once(agent.stdout, 'data')) as [Buffer]
  return [agent, output.toString().trim().split(' ')] as const
}

/** Zombies do not count: on some hosts nobody collects them. */
function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], {
      encoding: 'utf8',
    }).startsWith('Z')
  } catch {
    return false
  }
}

describe('what containers use', () => {
  it.skipIf(!linux)('is the CPU time and memory of all processes of their sessions', needsLinux, async () => {
    const runtime = openRuntime(temporaryDirectory())
    // The second process works, and no process of the first container does.
    const idle = await run(runtime, 'echo up; exec sleep 1000')
    const busy = await run(runtime, '(while :; do :; done) & echo up; wait', { name: 'busy' })
    await Promise.all([logged(runtime, idle, 'up'), logged(runtime, busy, 'up')])
    let usage = await runtime.containerStats([idle, busy])
    const cpuMs = (id: string) => usage.get(id)?.cpuMs ?? 0
    // To start costs both something, more on a busy host.
    while (cpuMs(busy) < 50 + 4 * cpuMs(idle)) usage = await runtime.containerStats([idle, busy])
    for (const id of [idle, busy]) expect(usage.get(id)?.memoryBytes).toBeGreaterThan(100_000)
    const { cpuMs: all, cpuUserMs = 0, cpuSystemMs = 0, ...memory } = usage.get(busy) ?? { cpuMs: 0, memoryBytes: 0 }
    expect(cpuUserMs + cpuSystemMs).toBe(all)
    expect(cpuUserMs).toBeGreaterThan(0)
    expect(memory.memoryUsageBytes).toBe(memory.memoryBytes)
    // The process that leads the session, the shell, and its child that works.
    expect([memory.processes, memory.threads]).toEqual([3, 3])
    expect([...(await runtime.containerStats([idle])).keys()]).toEqual([idle])
  })

  it('leaves out those that do not run', async () => {
    const runtime = openRuntime(temporaryDirectory())
    const id = await run(runtime, 'true')
    await ended(runtime, id)
    expect((await runtime.containerStats([id, 'none'])).size).toBe(0)
  })
})
