import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Cp, Exec, KubeConfig, PortForward, type V1Status } from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, pod } from './support/kubectl.ts'
import { coracleFile, type Outcome, Program, type RunOptions, run } from './support/program.ts'
import { thriftyTools, tools } from './support/tools.ts'

// Real clients in all the ways they connect. Further versions of kubectl: CORACLE_KUBECTLS=/path/kubectl-1.20:/path/kubectl-1.36

interface Client {
  readonly name: string
  /** Absent: the kubectl that the tests bring along. */
  readonly path?: string
  /** Before the command's own. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const overSpdy = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' }
const others = (process.env.CORACLE_KUBECTLS ?? '').split(delimiter).filter((path) => path !== '')
const clients: readonly Client[] = [
  { name: 'kubectl over WebSockets' },
  { name: 'kubectl over SPDY', env: overSpdy },
  { name: 'coracle', path: process.execPath, args: [coracleFile] },
  ...others.map((path) => ({ name: basename(path), path })),
]

/** Answers each request with as many bytes as its path says. */
const httpServer = `
  require('node:http')
    .createServer((request, response) => response.end(Buffer.alloc(Number(request.url.slice(1)), 'x')))
    .listen(8080, process.env.POD_IP)`

let program: Program
let kubectl: Kubectl
let directory: string
beforeAll(async () => {
  program = await Program.start({ args: ['--runtime', 'process', '--memory'] })
  kubectl = await Kubectl.in(program)
  directory = join(program.dataDir, 'files')
  mkdirSync(directory)
  const address = { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }
  const main = { name: 'main', image: 'x', command: [process.execPath, '-e', httpServer], env: [address] }
  const shell = { name: 'shell', image: 'x', command: ['sh', '-c', 'while read line; do echo "got $line"; done'] }
  const containers = [main, { ...shell, stdin: true }]
  await kubectl.create('pods', pod('web', {}, { terminationGracePeriodSeconds: 1, containers }))
  await kubectl.ok(['wait', '--for=condition=Ready', 'pod/web', '--timeout=50s'])
})
afterAll(() => program[Symbol.asyncDispose]())

async function commandOf({ path, args = [], env }: Client) {
  const file = path ?? (await tools()).kubectl
  return {
    file,
    args: [...args, '--kubeconfig', program.kubeconfig],
    env: { ...thriftyTools, HOME: program.dataDir, ...env },
  }
}

async function runWith(client: Client, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { file, args: first, env } = await commandOf(client)
  return run(file, [...first, ...args], { ...options, env: { ...options.env, ...env } })
}

describe.each(clients)('$name', (client) => {
  it('gives the exit code of a pod that is run, and that of the last try where it starts again when it fails', async () => {
    const names = ['once', 'again', 'mark', 'seen']
    const [once, again, mark, seen] = names.map((name) => `${name}-${randomBytes(4).toString('hex')}`)
    const runPod = (name: string | undefined, restart: string, script: string, options: RunOptions = {}) => {
      const flags = ['--image=x', '--attach', '--quiet', `--restart=${restart}`, '--command', '--']
      return runWith(client, ['run', String(name), ...flags, 'sh', '-c', script], options)
    }
    // What is written before anybody is attached to it is nobody's who attaches before it has ended, with kubectl as well.
    const untilAttached = (path: string) => `while [ ! -e ${path} ]; do echo out; sleep 0.1; done; exit 3`
    const [first, second] = [join(directory, `${seen}-once`), join(directory, `${seen}-again`)]
    const failed = await runPod(once, 'Never', untilAttached(first), { onOutput: () => writeFileSync(first, '') })
    expect(failed.code).toBe(3)
    expect(failed.stdout).toMatch(/^(out\n)+$/)
    expect(failed.stderr).toContain(`/${once} terminated (Error)\n`)
    const file = join(directory, String(mark))
    const trying = `test -e ${file} && exit 0; touch ${file}; ${untilAttached(second)}`
    const tried = await runPod(again, 'OnFailure', trying, { onOutput: () => writeFileSync(second, '') })
    expect([tried.code, tried.stderr]).toEqual([0, ''])
  })

  it('shows both outputs of a command, and ends with its exit code', async () => {
    const command = ['exec', 'web', '-c', 'main', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']
    expect(await runWith(client, command)).toEqual({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\ncommand terminated with exit code 3\n',
    })
    expect((await runWith(client, ['exec', 'web', '-c', 'main', '--', 'true'])).code).toBe(0)
  })

  it('gives a command some megabytes of input, and takes as many', async () => {
    const input = randomBytes(2_000_000).toString('hex')
    const { stdout, code } = await runWith(client, ['exec', '-i', 'web', '-c', 'main', '--', 'cat'], { input })
    expect([code, stdout.length, stdout === input]).toEqual([0, input.length, true])
  })

  it('tells what cannot be run', async () => {
    const missing = await runWith(client, ['exec', 'web', '-c', 'main', '--', 'nope'])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain('exec: "nope": executable file not found in $PATH')
    const container = await runWith(client, ['exec', 'web', '-c', 'other', '--', 'true'])
    expect(container.code).toBe(1)
    expect(container.stderr).toContain('container other is not valid for pod web')
  })

  it('has a terminal of its own size', { skip: process.platform !== 'linux', meta: { needs: 'Linux' } }, async () => {
    const { file, args, env } = await commandOf(client)
    // It may be told the size after it has begun.
    const script = `'tty; until stty size | grep -v "^0"; do sleep 0.05; done; exit 5'`
    const command = [file, ...args, 'exec', '-it', 'web', '-c', 'main', '--', 'sh', '-c', script]
    const { code, stdout } = await run('script', ['-qefc', `stty rows 33 cols 77; ${command.join(' ')}`, '/dev/null'], {
      env,
    })
    expect(code).toBe(5)
    expect(stdout).toMatch(/\/dev\/pts\/\d+\r\n33 77\r\n/)
  })

  it('is attached to a container that reads', async () => {
    const { file, args, env } = await commandOf(client)
    const attached = spawn(file, [...args, 'attach', '-i', 'web', '-c', 'shell'], { env: { ...process.env, ...env } })
    let said = ''
    attached.stdout.on('data', (piece) => {
      said += piece
    })
    attached.stdin.write('hello\n')
    await expect.poll(() => said).toContain('got hello\n')
    attached.kill('SIGINT')
    await once(attached, 'exit')
  })

  it('leaves a container whose input is for others, too, with the end of its own', async () => {
    const { code, stderr } = await runWith(client, ['attach', '-i', 'web', '-c', 'shell'], { input: 'piped\n' })
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('rror')])
    await expect.poll(() => kubectl.ok(['logs', 'web', '-c', 'shell'])).toContain('got piped\n')
    const script = 'while read line; do echo "got $line"; done'
    const name = `open-${clients.indexOf(client)}`
    const command = ['run', name, '--image=x', '-i', '--leave-stdin-open', '--restart=Never', '--command', '--', 'sh']
    expect((await runWith(client, [...command, '-c', script], { input: 'hello\n' })).code).toBe(0)
    await expect.poll(() => kubectl.ok(['logs', name])).toBe('got hello\n')
    await kubectl.ok(['delete', 'pod', name, '--now', '--wait=false'])
  })

  it('is told once what a container has written before it came', async () => {
    const name = `told-${clients.indexOf(client)}`
    const script = 'echo first; read line; echo "got $line"'
    const command = ['run', name, '--image=x', '-i', '--rm', '--restart=Never', '--command', '--', 'sh', '-c', script]
    const { stdout } = await runWith(client, command, { input: 'x\n' })
    expect(stdout.split('pod "')[0]).toBe('first\ngot x\n')
  })

  it('forwards a port, for many connections at once', async () => {
    const { file, args, env } = await commandOf(client)
    const forwarding = spawn(file, [...args, 'port-forward', 'web', ':8080'], { env: { ...process.env, ...env } })
    let said = ''
    forwarding.stdout.on('data', (piece) => {
      said += piece
    })
    await expect.poll(() => said).toMatch(/Forwarding from 127\.0\.0\.1:\d+ -> 8080/)
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(said) ?? []
    const sizes = Array.from({ length: 20 }, (_, index) => index * 50_000)
    const bodies = sizes.map(async (size) => (await (await fetch(`http://127.0.0.1:${port}/${size}`)).text()).length)
    expect(await Promise.all(bodies)).toEqual(sizes)
    forwarding.kill('SIGINT')
    await once(forwarding, 'exit')
  })

  it('copies a folder into a container, and out again', async () => {
    const name = client.name.replaceAll(/\W/g, '-')
    const source = mkdtempSync(join(directory, `${name}-`))
    mkdirSync(join(source, 'deep'))
    const bytes = randomBytes(1_000_000)
    writeFileSync(join(source, 'deep', 'bytes'), bytes)
    writeFileSync(join(source, 'a'), 'text')
    const into = await runWith(client, ['cp', '-c', 'main', source, `web:${source}-there`])
    expect([into.code, into.stderr]).toEqual([0, ''])
    const out = await runWith(client, ['cp', '-c', 'main', `web:${source}-there`, `${source}-back`])
    expect(out.code, out.stderr).toBe(0)
    expect(readFileSync(join(`${source}-back`, 'deep', 'bytes')).equals(bytes)).toBe(true)
    expect(readFileSync(join(`${source}-back`, 'a'), 'utf8')).toBe('text')
  })

  it('ends a copy out that cannot be written', async () => {
    const source = mkdtempSync(join(directory, 'large-'))
    writeFileSync(join(source, 'bytes'), Buffer.alloc(20_000_000))
    mkdirSync(join(`${source}-back`, 'bytes'), { recursive: true })
    const { code, stderr } = await runWith(client, ['cp', '-c', 'main', `web:${source}`, `${source}-back`])
    expect(code).toBe(1)
    expect(stderr).toContain(`${source}-back/bytes`)
  })

  it('runs a pod with its input, ends with its exit code, and deletes it', async () => {
    const name = `once-${clients.indexOf(client)}`
    const script = 'read line; echo "got $line"; exit 4'
    const command = ['run', name, '--image=x', '-i', '--rm', '--restart=Never', '--command', '--', 'sh', '-c', script]
    const { file, args, env } = await commandOf(client)
    // Both outputs in the order in which they are written.
    const both = ['-c', 'exec "$@" 2>&1', 'sh', file, ...args, ...command]
    const { code, stdout } = await run('sh', both, { input: 'hello\n', env })
    expect(code).toBe(4)
    expect(stdout).toContain('got hello\n')
    expect(stdout).toMatch(/pod "once-\d" deleted from default namespace\npod default\/once-\d terminated \(Error\)\n$/)
    await expect.poll(() => kubectl.exists('pods', name)).toBe(false)
  })

  it('leaves nothing behind when it is killed', async () => {
    const { file, args, env } = await commandOf(client)
    const script = 'echo $$; while :; do sleep 0.1; done'
    const execution = spawn(file, [...args, 'exec', 'web', '-c', 'main', '--', 'sh', '-c', script], {
      env: { ...process.env, ...env },
    })
    const pid = Number(String((await once(execution.stdout, 'data'))[0]).trim())
    execution.kill('SIGKILL')
    await expect
      .poll(() => {
        try {
          return process.kill(pid, 0)
        } catch {
          return false
        }
      })
      .toBe(false)
  })
})

describe('@kubernetes/client-node', () => {
  let config: KubeConfig
  beforeAll(() => {
    config = new KubeConfig()
    config.loadFromFile(program.kubeconfig)
  })

  it('runs a command', async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const texts = Promise.all([text(stdout), text(stderr)])
    const command = ['sh', '-c', 'read line; echo "got $line"; echo err >&2; exit 3']
    const stdin = new PassThrough()
    stdin.write('hello\n')
    const ended = Promise.withResolvers<V1Status>()
    await new Exec(config).exec('default', 'web', 'main', command, stdout, stderr, stdin, false, ended.resolve)
    const status = await ended.promise
    expect(status.details?.causes).toEqual([{ reason: 'ExitCode', message: '3' }])
    stdout.end()
    stderr.end()
    expect(await texts).toEqual(['got hello\n', 'err\n'])
  })

  it('sends all of an input in one message', async () => {
    const stdout = new PassThrough()
    const stdin = Readable.from([Buffer.alloc(5_000_000, 'x')])
    await new Exec(config).exec('default', 'web', 'main', ['wc', '-c'], stdout, null, stdin, false)
    expect((await text(stdout)).trim()).toBe('5000000')
  })

  it('has a terminal of the size of its output', {
    skip: process.platform !== 'linux',
    meta: { needs: 'Linux' },
  }, async () => {
    const stdout = Object.assign(new PassThrough(), { rows: 33, columns: 77 })
    // It is told as soon as the command runs.
    const command = ['sh', '-c', 'until stty size | grep -v "^0"; do sleep 0.05; done']
    await new Exec(config).exec('default', 'web', 'main', command, stdout, null, new PassThrough(), true)
    expect((await text(stdout)).trim()).toBe('33 77')
  })

  it('copies files into a container and out of it', async () => {
    const folder = (name: string) => join(directory, name)
    const [from, inside, to] = [folder('from'), folder('inside'), folder('to')]
    for (const each of [from, inside, to]) mkdirSync(each)
    writeFileSync(join(from, 'file'), 'its content')
    const contentOf = (at: string) => existsSync(join(at, 'file')) && readFileSync(join(at, 'file'), 'utf8')
    // Neither waits until the file is there.
    await new Cp(config).cpToPod('default', 'web', 'main', from, inside)
    await expect.poll(() => contentOf(inside)).toBe('its content')
    await new Cp(config).cpFromPod('default', 'web', 'main', 'file', to, inside)
    await expect.poll(() => contentOf(to)).toBe('its content')
  })

  it('forwards a port', async () => {
    const output = new PassThrough()
    const input = new PassThrough()
    await new PortForward(config).portForward('default', 'web', [8080], output, null, input)
    input.write('GET /5 HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n')
    let answer = ''
    output.on('data', (piece) => {
      answer += piece
    })
    await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nxxxxx$/)
  })
})

describe('the keys that detach', { skip: process.platform !== 'linux', meta: { needs: 'Linux' } }, () => {
  /** A command on a terminal, on which is typed as soon as it shows something. Gives what it has shown, and how it ended. */
  async function onTerminal(args: readonly string[], shows: string, typed: string) {
    const line = [process.execPath, coracleFile, '--kubeconfig', program.kubeconfig, ...args].join(' ')
    const terminal = spawn('script', ['-qefc', line, '/dev/null'], { env: { ...process.env, HOME: program.dataDir } })
    const ended = once(terminal, 'exit')
    let shown = ''
    terminal.stdout.on('data', (piece) => {
      shown += piece
    })
    await expect.poll(() => shown).toContain(shows)
    // A command that has ended reads nothing.
    if (typed !== '') terminal.stdin.write(typed)
    const [code] = await ended
    return { code, shown }
  }

  const shell = ['--image=x', '--restart=Never', '--command', '--', 'sh', '-c', "'while read x; do :; done'"]
  /** What is shown where a session begins. */
  const note = 'try pressing enter'
  const phaseOf = async (name: string) =>
    (await kubectl.ok(['get', 'pod', name, '-o', 'jsonpath={.status.phase}'])).trim()

  it('leave a container that was run running, and one that is attached to, and have to be keys', async () => {
    // As kubectl it waits for what does not start again, for as long as it would have waited for the start.
    const run = await onTerminal(['run', '-it', 'left', '--pod-running-timeout=20s', ...shell], note, 'typed\x10\x11')
    expect(run.code).toBe(1)
    expect(run.shown).toContain("Session ended, resume using 'coracle attach left -c left -n ")
    expect(run.shown).toContain('error: timed out waiting for the condition')
    // What the command itself says begins at the left edge, too.
    expect(run.shown).not.toMatch(/(?<!\r)\n/)
    expect(await phaseOf('left')).toBe('Running')
    const attach = await onTerminal(['attach', '-it', 'left', '--detach-keys=ctrl-a,d'], note, '\x10\x11\x01d')
    expect(attach.code).toBe(0)
    expect(await phaseOf('left')).toBe('Running')
    const wrong = await onTerminal(['attach', '-it', 'left', '--detach-keys=nothing'], note, '')
    expect(wrong.code).toBe(1)
    expect(wrong.shown).toContain("error: could not bind detach keys: Unknown character: 'nothing'")
  })
})
