import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { ownNumber } from '../../packages/environment/src/testing/own-number.ts'
import { coracleFile, run } from './program.ts'

/** What a machine is: a network of its own where that can be had, so that its addresses are others than the server's. */
export interface Machine extends AsyncDisposable {
  /** The address by which it reaches the server, and the server's machine it. */
  readonly serverAddress: string
  readonly address: string
  /** What a command runs there begins with. */
  readonly prefix: readonly string[]
  /** The same for what mounts something that everybody is to see. */
  readonly networkPrefix: readonly string[]
  /** Whether its network is its own. */
  readonly isApart: boolean
}

/** Makes a network namespace joined to this one, as root with iproute2; otherwise the machine is this one, by loopback. */
export async function machine(name: string): Promise<Machine> {
  const [here, there] = [`${name}0`, `${name}1`]
  const subnet = `10.240.${(await ownNumber(18_000, 200)) % 200}`
  const inside = ['ip', 'netns', 'exec', name]
  const commands = [
    ['ip', 'netns', 'add', name],
    ['ip', 'link', 'add', here, 'type', 'veth', 'peer', 'name', there],
    ['ip', 'link', 'set', there, 'netns', name],
    ['ip', 'addr', 'add', `${subnet}.1/24`, 'dev', here],
    ['ip', 'link', 'set', here, 'up'],
    [...inside, 'ip', 'addr', 'add', `${subnet}.2/24`, 'dev', there],
    [...inside, 'ip', 'link', 'set', there, 'up'],
    [...inside, 'ip', 'link', 'set', 'lo', 'up'],
  ]
  for (const [command = '', ...args] of commands) {
    const { code } = await run(command, args).catch(() => ({ code: 1 }))
    if (code === 0) continue
    await run('ip', ['netns', 'del', name]).catch(() => {})
    const nowhere = { serverAddress: '127.0.0.1', address: '127.0.0.1', prefix: [], networkPrefix: [], isApart: false }
    return { ...nowhere, [Symbol.asyncDispose]: async () => {} }
  }
  return {
    serverAddress: `${subnet}.1`,
    address: `${subnet}.2`,
    prefix: inside,
    networkPrefix: ['nsenter', `--net=/run/netns/${name}`],
    isApart: true,
    async [Symbol.asyncDispose]() {
      await run('ip', ['netns', 'del', name])
    },
  }
}

/** A running `coracle agent`. */
export class AgentProcess {
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>

  private constructor(child: ChildProcess) {
    this.#child = child
    this.#closed = once(child, 'close')
  }

  /** Starts it on a machine and waits until it says that its node is part of the cluster. */
  static async start(on: Pick<Machine, 'prefix'>, args: readonly string[]): Promise<AgentProcess> {
    const [command = '', ...rest] = [...on.prefix, process.execPath, coracleFile, 'agent', ...args]
    const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'] })
    const agent = new AgentProcess(child)
    const output: string[] = []
    const ready = Promise.withResolvers<void>()
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line)
        if (line.includes('is part of')) ready.resolve()
      })
    }
    const fail = (why: string) => ready.reject(new Error(`coracle agent ${why}:\n${output.join('\n')}`))
    child.once('close', () => fail('ended before it was ready'))
    const timer = setTimeout(() => fail('was not ready within 60 s'), 60_000)
    try {
      await ready.promise
      return agent
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends it with a signal and waits until it is gone. `ip netns exec` becomes the program: they have one process id. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal)
    await this.#closed
  }
}
