import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { realClock, realEnvironment } from '@coracle/environment'
import { ownNumber } from '@coracle/environment/testing/own-number'
import { Engine } from '../runtimes/docker/engine.ts'
import { openDockerRuntime } from '../runtimes/docker/index.ts'
import { busyboxImage, type TestImage, testImage, writeImage } from './test-images.ts'

/** A real engine, started for tests. */
export type EngineName = 'docker' | 'podman'

interface Description {
  readonly programs: readonly string[]
  readonly debian: string
  /** The second number of the networks of its pods begins here: tests that run at one time have others. */
  readonly subnets: number
}

const descriptions: Readonly<Record<EngineName, Description>> = {
  docker: {
    programs: ['dockerd', 'containerd', 'runc', 'ip'],
    debian: 'docker.io busybox-static iproute2',
    subnets: 160,
  },
  podman: {
    programs: ['podman', 'runc', 'conmon', 'iptables'],
    debian: 'podman runc netavark busybox-static iptables',
    subnets: 120,
  },
}

/** What an engine wants that this machine lacks; undefined where nothing is lacking. */
function lackingFor(name: EngineName): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux'
  const { programs, debian } = descriptions[name]
  const missing = programs.filter((each) => spawnSync('which', [each]).status !== 0)
  if (!existsSync('/bin/busybox')) missing.push('busybox')
  return missing.length === 0 ? undefined : `${missing.join(', ')} (Debian: apt-get install ${debian})`
}

/** What tests that need an engine say where there is none, or where it does not work. */
export const needsEngine = (name: EngineName, why: string | undefined) => ({ meta: { needs: `${name}: ${why ?? ''}` } })

const networksPerEngine = 40

const networks = new Map<EngineName, Promise<number>>()

/** The beginning of the network of an engine, one for each process of this host. */
async function ownNetwork(name: EngineName): Promise<string> {
  const first = 19_000 + descriptions[name].subnets
  const network = networks.get(name) ?? ownNumber(first, networksPerEngine)
  networks.set(name, network)
  return `10.${(await network) - 19_000}`
}

/** How long it may take until it answers: a slow machine is none that lacks it. */
const startMs = 60_000

/** A real Docker or Podman, with all that is its own in a temporary directory. */
export class EngineDaemon {
  readonly directory: string
  readonly name: EngineName
  readonly #bridge: string
  readonly #subnet: string
  #child: ChildProcess | undefined

  readonly #prefix: readonly string[]

  private constructor(name: EngineName, directory: string, subnet: string, prefix: readonly string[]) {
    this.#prefix = prefix
    this.name = name
    this.directory = directory
    this.#bridge = `crcl${name.charAt(0)}${process.pid}`
    this.#subnet = subnet
  }

  get endpoint(): string {
    return `unix://${join(this.directory, 'engine.sock')}`
  }

  /** Resolves when it serves and has its image. `prefix` is what its commands begin with, such as what has them be in another network. */
  static async start(name: EngineName, prefix: readonly string[] = []): Promise<EngineDaemon> {
    const subnet = await ownNetwork(name)
    const daemon = new EngineDaemon(name, await mkdtemp(join(tmpdir(), `${name}-`)), subnet, prefix)
    try {
      await daemon.#configure()
      await daemon.start()
      await daemon.import(testImage, await busyboxImage({ Cmd: ['/bin/sh'] }))
      return daemon
    } catch (error) {
      await daemon[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Why containers cannot be run on this machine; undefined where they can. */
  static async probe(name: EngineName): Promise<string | undefined> {
    const lacking = lackingFor(name)
    if (lacking !== undefined) return lacking
    const daemon = await EngineDaemon.start(name).catch((error: Error) => error)
    if (daemon instanceof Error) return daemon.message
    try {
      await daemon.#runSandbox()
      return undefined
    } catch (error) {
      return `runs no containers here: ${error instanceof Error ? error.message : error}`
    } finally {
      await daemon[Symbol.asyncDispose]()
    }
  }

  async #runSandbox(): Promise<void> {
    const directory = join(this.directory, 'probe')
    const { endpoint } = this
    const runtime = await openDockerRuntime({
      environment: realEnvironment(),
      endpoint,
      directory,
      podLogsDirectory: directory,
    })
    try {
      const pod = { podUid: 'probe', podName: 'probe', podNamespace: 'default', attempt: 0 }
      const { id } = await runtime.runPodSandbox({ ...pod, hostname: 'probe', hostNetwork: false })
      await runtime.removePodSandbox(id)
    } finally {
      await runtime.close()
    }
  }

  /** Starts it again, where it was before. */
  async start(): Promise<void> {
    const [program = '', ...args] = [
      ...this.#prefix,
      ...(this.name === 'docker' ? this.#dockerCommand() : this.#podmanCommand()),
    ]
    const child = spawn(program, args, {
      // Podman's monitor leaves a file where it runs when a container has taken too much memory.
      cwd: this.directory,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        // Docker's containerd leaves the stacks of its threads there when it is taken for one that hangs, as on a busy machine.
        TMPDIR: this.directory,
        PATH: `${join(this.directory, 'bin')}:${process.env.PATH}`,
        CONTAINERS_CONF: join(this.directory, 'containers.conf'),
        CONTAINERS_REGISTRIES_CONF: join(this.directory, 'registries.conf'),
      },
      detached: true,
    })
    this.#child = child
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000)
    })
    const ended = new Promise<never>((_, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`${this.name} ended with ${code}: ${said}`)))
    })
    ended.catch(() => {})
    await Promise.race([this.#answers(), ended])
  }

  async #answers(): Promise<void> {
    const engine = new Engine(this.endpoint, realClock)
    const deadline = realClock.now() + startMs
    for (;;) {
      try {
        await engine.negotiate(startMs)
        return
      } catch (error) {
        if (realClock.now() > deadline) throw error
        await new Promise<void>((resolve) => void realClock.setTimer(50, resolve))
      }
    }
  }

  /** Ends it, and leaves its containers to themselves. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async import(name: string, image: TestImage): Promise<void> {
    const path = join(this.directory, 'image.tar')
    await writeImage(image, name, path)
    const engine = new Engine(this.endpoint, realClock)
    const messages = engine.messages<{ readonly error?: string }>({
      method: 'POST',
      path: '/images/load',
      body: await readFile(path),
    })
    for await (const { error } of messages) if (error !== undefined) throw new Error(error)
    await rm(path)
  }

  /** The ids of all containers, sandboxes too. */
  async containers(): Promise<readonly string[]> {
    const engine = new Engine(this.endpoint, realClock)
    const found = await engine.call<readonly { readonly Id: string }[]>({
      path: '/containers/json',
      query: { all: true },
    })
    return found.map(({ Id }) => Id)
  }

  /** Mounts of this host that containers have left. */
  mounts(): readonly string[] {
    return this.#allMounts().filter(
      (path) => path.includes('/merged') || path.includes('netns') || path.endsWith('/shm'),
    )
  }

  #allMounts(): readonly string[] {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${this.directory}/`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#removeContainers().catch(() => {})
    await this.#end()
    for (const path of this.#allMounts().toReversed()) spawnSync('umount', ['-l', path])
    this.#ip('link', 'delete', this.#bridge)
    await rm(this.directory, { recursive: true, force: true })
  }

  #ip(...args: readonly string[]): void {
    const [program = '', ...rest] = [...this.#prefix, 'ip', ...args]
    spawnSync(program, rest)
  }

  async #removeContainers(): Promise<void> {
    const engine = new Engine(this.endpoint, realClock)
    for (const id of await this.containers())
      await engine.call({ method: 'DELETE', path: `/containers/${id}`, query: { force: true } }).catch(() => {})
  }

  /** Docker ends what it has started itself where it is asked to end. */
  async #end(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }

  async #configure(): Promise<void> {
    if (this.name === 'docker') {
      // Its own hardware address: it would have the lowest of those of its pods, and with another pod another, and those that know the former
      // would send nothing to the host for half a minute.
      const second = Number(this.#subnet.split('.')[1]).toString(16).padStart(2, '0')
      this.#ip('link', 'add', this.#bridge, 'address', `02:42:0a:${second}:00:01`, 'type', 'bridge')
      this.#ip('address', 'add', `${this.#subnet}.0.1/16`, 'dev', this.#bridge)
      this.#ip('link', 'set', this.#bridge, 'up')
      // In place of the machine's own.
      await writeFile(join(this.directory, 'daemon.json'), '{}')
      return
    }
    const at = (name: string) => JSON.stringify(join(this.directory, name))
    await writeFile(
      join(this.directory, 'containers.conf'),
      `[containers]
# What it would have otherwise not every machine may give.
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[network]
network_backend = "netavark"
network_config_dir = ${at('networks')}
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
tmp_dir = ${at('tmp')}
`,
    )
    // Podman looks for the packages of its helpers whenever it is asked what it is, which takes longer than all else that it does then.
    await mkdir(join(this.directory, 'bin'))
    for (const name of ['dpkg', 'dpkg-query', 'rpm'])
      await writeFile(join(this.directory, 'bin', name), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    await mkdir(join(this.directory, 'networks'))
    await writeFile(join(this.directory, 'networks', 'podman.json'), JSON.stringify(this.#podmanNetwork()))
    await writeFile(
      join(this.directory, 'registries.conf'),
      '[[registry]]\nlocation = "127.0.0.1"\ninsecure = true\n[[registry]]\nlocation = "localhost"\ninsecure = true\n',
    )
  }

  /** As Podman's default network, with a bridge and addresses that no other has. */
  #podmanNetwork(): object {
    return {
      name: 'podman',
      id: '2f259bab93aaaaa2542ba43ef33eb990d0999ee1b9924b557b7be53c0b7a1bb9',
      driver: 'bridge',
      network_interface: this.#bridge,
      created: '2026-01-01T00:00:00Z',
      subnets: [{ subnet: `${this.#subnet}.0.0/16`, gateway: `${this.#subnet}.0.1` }],
      ipv6_enabled: false,
      internal: false,
      dns_enabled: false,
      ipam_options: { driver: 'host-local' },
    }
  }

  #dockerCommand(): readonly string[] {
    const at = (name: string) => join(this.directory, name)
    return [
      'dockerd',
      ...['--config-file', at('daemon.json'), '--data-root', at('root'), '--exec-root', at('exec')],
      ...['--pidfile', at('pid'), '--host', this.endpoint, '--live-restore', '--bridge', this.#bridge],
      // The packet filter of the host is not its own.
      ...['--iptables=false', '--ip6tables=false', '--ip-masq=false', '--ip-forward=false'],
    ]
  }

  #podmanCommand(): readonly string[] {
    const at = (name: string) => join(this.directory, name)
    const own = ['--root', at('root'), '--runroot', at('run')]
    return ['podman', ...own, 'system', 'service', '--time=0', this.endpoint]
  }
}
