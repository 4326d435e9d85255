import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'

/** How the kernel marks a socket that takes connections (`__SO_ACCEPTCON`), in /proc/net/unix. */
const accepting = 0x10000

/**
 * Programs that see what they mount into containers, or have others do it who see the same. Whatever else serves a socket may pass it on to another
 * machine, as that of Docker Desktop.
 */
const runtimePrograms: ReadonlySet<string> = new Set(['containerd', 'crio', 'dockerd', 'podman'])

/** A socket, as the process that serves it has it open. */
interface Server {
  readonly pid: number
  readonly descriptor: string
  readonly target: string
}

/**
 * The processes of a container runtime on this machine that serve a socket, as the roots of the files that they see: `/proc/PID/root`. They are found by the
 * socket that listens, which /proc shows to root in the same network and process namespaces.
 */
export class RuntimeRoots {
  readonly #socket: string
  #servers: readonly Server[] = []

  constructor(socket: string) {
    this.#socket = socket
  }

  /** Undefined where it cannot be told which processes these are. */
  async find(): Promise<readonly string[] | undefined> {
    if (!(await allServe(this.#servers))) this.#servers = await findServers(this.#socket)
    return this.#servers.length === 0 ? undefined : this.#servers.map(rootOf)
  }
}

const rootOf = ({ pid }: Pick<Server, 'pid'>): string => `/proc/${pid}/root`

/** Whether those that served a socket still do: there are some, and their numbers are not others' by now. */
async function allServe(servers: readonly Server[]): Promise<boolean> {
  const targets = await Promise.all(servers.map(({ pid, descriptor }) => targetOf(pid, descriptor)))
  return servers.length > 0 && servers.every(({ target }, index) => targets[index] === target)
}

/** All that serve the socket; none where one of them is not known to be a runtime here. */
async function findServers(socket: string): Promise<readonly Server[]> {
  const listening = await listeningAt(socket)
  if (listening.size === 0) return []
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid)
  const seen: Server[] = []
  for (const pid of pids) {
    const server = await serverIn(pid, listening)
    if (server !== undefined) seen.push(server)
  }
  const serve = await Promise.all(seen.map((each) => servesFile(each, socket, listening.get(each.target) ?? socket)))
  const servers = seen.filter((_, index) => serve[index])
  const programs = await Promise.all(servers.map(async (each) => ({ ...each, program: await programOf(each) })))
  return isRuntime(programs) ? servers : []
}

/** Whether those that serve a socket are a runtime here. The first process opens sockets for others, and is where these are started from. */
export function isRuntime(servers: readonly { readonly pid: number; readonly program: string }[]): boolean {
  const isKnown = ({ program }: { readonly program: string }) => runtimePrograms.has(program)
  return servers.some(isKnown) && servers.every((each) => each.pid === 1 || isKnown(each))
}

/**
 * Whether a process serves the socket at a path, and not one of that name in another file system: a pod on the node's network may have one. One that is root
 * for itself alone counts for nothing: it may not look into directories of root's, and anybody can have one.
 */
async function servesFile(server: Server, socket: string, path: string): Promise<boolean> {
  // Copies of processes that are about to become other programs have gone by now.
  if (!(await allServe([server]))) return false
  const users = await readlink(`/proc/${server.pid}/ns/user`).catch(() => '')
  return users === (await readlink('/proc/self/ns/user')) && (await isSame(socket, `${rootOf(server)}${path}`))
}

const programOf = async ({ pid }: Server): Promise<string> =>
  (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim()

async function serverIn(pid: number, listening: ReadonlyMap<string, string>): Promise<Server | undefined> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const targets = await Promise.all(descriptors.map((descriptor) => targetOf(pid, descriptor)))
  const index = targets.findIndex((target) => target !== undefined && listening.has(target))
  const [descriptor, target] = [descriptors[index], targets[index]]
  return descriptor === undefined || target === undefined ? undefined : { pid, descriptor, target }
}

const targetOf = (pid: number, descriptor: string): Promise<string | undefined> =>
  readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined)

/** The sockets that listen at a path: their paths, as they were bound, by what descriptors of them are links to. */
async function listeningAt(socket: string): Promise<ReadonlyMap<string, string>> {
  const wanted = await realpath(socket)
  const all = parseListening(await readFile('/proc/net/unix', 'utf8').catch(() => ''))
  const found = new Map<string, string>()
  for (const { inode, path } of all) {
    if ((await realpath(path).catch(() => undefined)) === wanted) found.set(`socket:[${inode}]`, path)
  }
  return found
}

/** Sockets with an absolute path that take connections, as /proc/net/unix tells of them. */
export function parseListening(text: string): readonly { readonly inode: string; readonly path: string }[] {
  return text.split('\n').flatMap((line) => {
    const [, flags = '', inode, path] = /^\S+ \S+ \S+ (\S+) \S+ \S+ +(\d+) (\/.*)$/.exec(line) ?? []
    if (inode === undefined || path === undefined) return []
    return (Number.parseInt(flags, 16) & accepting) === 0 ? [] : [{ inode, path }]
  })
}

/** Whether two paths lead to one file. */
async function isSame(path: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([path, other].map((each) => stat(each, { bigint: true }).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}
