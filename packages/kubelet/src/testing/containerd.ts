import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { realClock } from '@coracle/environment'
import { ownNumber } from '@coracle/environment/testing/own-number'
import { CriConnection } from '../runtimes/cri/connection.ts'
import { runtimeMethods } from '../runtimes/cri/methods.ts'
import { busyboxImage, type TestImage, testImage, writeImage } from './test-images.ts'

const run = promisify(execFile)

const networkPlugins = '/usr/lib/cni'

/** What containerd wants that this machine lacks; undefined where nothing is lacking. */
function lacking(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux'
  const programs = ['containerd', 'ctr', 'runc', 'ip', 'iptables']
  const missing = programs.filter((name) => spawnSync('which', [name]).status !== 0)
  if (!existsSync('/bin/busybox') || !existsSync(join(networkPlugins, 'bridge'))) missing.push('busybox or CNI plugins')
  if (missing.length === 0) return undefined
  const debian = 'apt-get install containerd runc containernetworking-plugins busybox-static iproute2 iptables'
  return `${missing.join(', ')} (Debian: ${debian})`
}

const lack = lacking()

/** Whether this machine has what containerd needs; whether it works is another question, which `Containerd.probe` answers. */
export const hasContainerd: boolean = lack === undefined

/** What tests that need containerd say where there is none, or where it does not work. */
export const needsContainerd = (why: string | undefined = lack) => ({ meta: { needs: `containerd: ${why ?? ''}` } })

/** The image that sandboxes are made of. */
const pauseImage = 'localhost/pause:1'

/** Clusters of tests on one host have networks of their own: 10.200.0.0/16 to 10.239.0.0/16, one for each process. */
const networks = { first: 200, count: 40 }

let network: Promise<number> | undefined

async function ownNetwork(): Promise<string> {
  network ??= ownNumber(19_000 + networks.first, networks.count)
  return `10.${(await network) - 19_000}.0.0/16`
}

/** A real containerd with runc, with all that is its own in a temporary directory. */
export class Containerd {
  readonly directory: string
  readonly #bridge: string
  readonly #subnet: string
  #child: ChildProcess | undefined

  readonly #prefix: readonly string[]

  private constructor(directory: string, subnet: string, prefix: readonly string[]) {
    this.directory = directory
    this.#prefix = prefix
    this.#bridge = `crcl${process.pid}`
    this.#subnet = subnet
  }

  /** Its socket, as node agents name it. */
  get endpoint(): string {
    return `unix://${this.socket}`
  }

  get socket(): string {
    return join(this.directory, 'containerd.sock')
  }

  /** Resolves when it serves and has its images. `prefix` is what its command begins with, such as what has it be in another network. */
  static async start(prefix: readonly string[] = []): Promise<Containerd> {
    const containerd = new Containerd(await mkdtemp(join(tmpdir(), 'ctrd-')), await ownNetwork(), prefix)
    await containerd.#configure()
    await containerd.start()
    await containerd.import(
      pauseImage,
      await busyboxImage({ Entrypoint: ['/bin/sleep'], Cmd: ['2147483647'] }, 'pause'),
    )
    await containerd.import(testImage, await busyboxImage({ Cmd: ['/bin/sh'] }))
    return containerd
  }

  /** Why containers cannot be run on this machine, which containers of a build service may forbid; undefined where they can. */
  static async probe(): Promise<string | undefined> {
    if (lack !== undefined) return lack
    const containerd = await Containerd.start().catch((error: Error) => error)
    if (containerd instanceof Error) return containerd.message
    try {
      await containerd.#runSandbox()
      return undefined
    } catch (error) {
      return `runs no containers here: ${error instanceof Error ? error.message : error}`
    } finally {
      await containerd[Symbol.asyncDispose]()
    }
  }

  /** Runs a sandbox with a network, and removes it again. */
  async #runSandbox(): Promise<void> {
    const connection = new CriConnection(this.endpoint, realClock)
    try {
      const metadata = { name: 'probe', uid: 'probe', namespace: 'default' }
      const limits = { timeoutMs: 60_000 } // A slow machine is none that runs no containers.
      const config = { metadata, hostname: 'probe', logDirectory: this.directory }
      const sandbox = await connection.call(runtimeMethods.runPodSandbox, { config }, limits)
      await connection.call(runtimeMethods.stopPodSandbox, sandbox)
      await connection.call(runtimeMethods.removePodSandbox, sandbox)
    } finally {
      connection.close()
    }
  }

  /** Starts it again, where it was before. */
  async start(): Promise<void> {
    const [program = '', ...args] = [...this.#prefix, 'containerd', '--config', join(this.directory, 'config.toml')]
    const child = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      // What containers run on outlives it, and what it started is not this process's to end.
      detached: true,
    })
    this.#child = child
    const ready = Promise.withResolvers<void>()
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000)
      if (said.includes('containerd successfully booted')) ready.resolve()
    })
    child.once('error', ready.reject)
    child.once('exit', (code) => ready.reject(new Error(`containerd ended with ${code}: ${said}`)))
    await ready.promise
  }

  /** Ends it, and leaves its containers to themselves. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Runs its own client, in the namespace of Kubernetes. */
  async ctr(args: readonly string[], { timeoutMs = 60_000 } = {}): Promise<string> {
    const all = ['-a', this.socket, '-n', 'k8s.io', ...args]
    const { stdout } = await run('ctr', all, { timeout: timeoutMs, maxBuffer: 16 * 1024 * 1024 })
    return stdout
  }

  async import(name: string, image: TestImage): Promise<void> {
    const path = join(this.directory, 'image.tar')
    await writeImage(image, name, path)
    await this.ctr(['images', 'import', path])
    await rm(path)
  }

  /** The ids of all containers, sandboxes too. */
  async containers(): Promise<readonly string[]> {
    return linesOf(await this.ctr(['containers', 'list', '-q']))
  }

  /** Mounts of this host that containers have left. */
  mounts(): readonly string[] {
    return this.#allMounts().filter((path) => path.includes('/io.containerd') || path.includes('netns'))
  }

  #allMounts(): readonly string[] {
    return readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(`${this.directory}/`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#removeContainers().catch(() => {})
    await this.kill()
    for (const path of this.#allMounts().toReversed()) spawnSync('umount', ['-l', path])
    spawnSync('ip', ['link', 'delete', this.#bridge])
    await rm(this.directory, { recursive: true, force: true })
  }

  async #removeContainers(): Promise<void> {
    for (const id of linesOf(await this.ctr(['tasks', 'list', '-q'])))
      await this.ctr(['tasks', 'delete', '-f', id]).catch(() => {})
    for (const id of linesOf(await this.ctr(['containers', 'list', '-q'])))
      await this.ctr(['containers', 'delete', id]).catch(() => {})
  }

  async #configure(): Promise<void> {
    const at = (name: string) => JSON.stringify(join(this.directory, name))
    await mkdir(join(this.directory, 'cni'))
    await writeFile(
      join(this.directory, 'config.toml'),
      `version = 2
root = ${at('root')}
state = ${at('state')}
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = ${at('containerd.sock')}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # Where containerd itself may not have its processes killed later than others.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${networkPlugins}"
    conf_dir = ${at('cni')}
`,
    )
    const network = {
      cniVersion: '0.4.0',
      name: this.#bridge,
      plugins: [
        {
          type: 'bridge',
          bridge: this.#bridge,
          isGateway: true,
          ipMasq: false,
          ipam: {
            type: 'host-local',
            dataDir: join(this.directory, 'addresses'),
            subnet: this.#subnet,
            routes: [{ dst: '0.0.0.0/0' }],
          },
        },
        { type: 'portmap', capabilities: { portMappings: true } },
      ],
    }
    await writeFile(join(this.directory, 'cni', '10-test.conflist'), JSON.stringify(network))
  }
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '')
