import { join, relative } from 'node:path'
import { ContainerConfigError } from '../../runtime.ts'
import { type FoundFile, type HostFiles, isAtOrBelow, type MadeFile, type Shown, ViewFiles } from './view-files.ts'

/** A volume that is to appear at an absolute path. */
export interface ViewMount {
  readonly name: string
  readonly containerPath: string
  /** Where it is on the host, without links. */
  readonly source: string
  readonly readOnly: boolean
  /** Whether also what is mounted below it is read-only. */
  readonly recursiveReadOnly: boolean
  /** Whether what the host mounts below it later is seen. */
  readonly followsHost: boolean
}

/** A volume in a view. */
export interface Place extends Shown {
  readonly name: string
  readonly readOnly: boolean
  readonly recursiveReadOnly: boolean
  readonly followsHost: boolean
  /** On the host, what it is mounted over there or in another volume, without links; absent: what is made for the view. */
  readonly over?: string
  /** What has to be made in another volume for it to be mounted there. */
  readonly making?: { readonly volume: string; readonly way: string; readonly kind: 'directory' | 'file' }
}

/** A directory of the host whose names are to be there beside others. */
export interface RebuiltDirectory {
  readonly path: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** What in it is the host's: nothing of what is rebuilt itself. */
  readonly directories: readonly string[]
  readonly files: readonly string[]
  readonly links: readonly string[]
}

/** How the files of a container come about. */
export interface ViewPlan {
  /** From the root on; none where all mounts are over what the host has: then all else is the host's as it is. */
  readonly rebuilt: readonly RebuiltDirectory[]
  /** In directories that are rebuilt, those that lead to others first. */
  readonly made: readonly MadeFile[]
  /** In the order to mount them in. */
  readonly places: readonly Place[]
}

/** Names in a directory that is rebuilt: each is a mount. */
export const rebuiltNamesMax = 4_096

/** Where nothing can be made beside what the kernel shows. */
const kernelDirectories: readonly string[] = ['/proc', '/sys']

/**
 * Plans the files of a container. Nothing is made on the host but in volumes: where a path is missing, the directories on the way to it are
 * rebuilt, with what the host has in them and the new name. `guarded`: root makes the view for somebody else, who must not be able to change
 * what is rebuilt at that moment. Throws a `ContainerConfigError` where a volume cannot be where it should.
 */
export function planView(mounts: readonly ViewMount[], host: HostFiles, guarded = false): ViewPlan {
  const places: Place[] = []
  const made = new Map<string, MadeFile>()
  const rebuilt = new Map<string, FoundFile>()
  const depth = ({ containerPath }: ViewMount) => containerPath.split('/').filter(Boolean).length
  for (const mount of mounts.toSorted((one, other) => depth(one) - depth(other))) {
    const files = new ViewFiles(places, [...made.values()], host)
    const refuse = (why: string): never => {
      throw new ContainerConfigError(`volumeMount "${mount.name}" cannot be mounted at ${mount.containerPath}: ${why}`)
    }
    const { place, making, way } = planPlace(mount, files, host, refuse)
    for (const directory of way) {
      if (rebuilt.has(directory)) continue
      const found = host.look(directory) ?? refuse(`${directory} cannot be read`)
      if (guarded && (found.uid !== 0 || (found.mode & 0o022) !== 0))
        refuse(`${directory} of this host does not have it, and is not root's alone`)
      rebuilt.set(directory, found)
      if (namesOf(directory, host, refuse).length > rebuiltNamesMax)
        refuse(`${directory} of this host does not have it, and has more than ${rebuiltNamesMax} other names`)
    }
    for (const file of making) made.set(file.path, file)
    places.push(place)
  }
  return {
    rebuilt: [...rebuilt].map(([path, found]) => rebuiltDirectory(path, found, host, rebuilt, made)),
    made: [...made.values()],
    places,
  }
}

type Refuse = (why: string) => never

/** Where a volume is, what has to be made for it, and the directories of the host that have to be rebuilt for that. */
interface PlannedPlace {
  readonly place: Place
  readonly making: readonly MadeFile[]
  readonly way: readonly string[]
}

function planPlace(mount: ViewMount, files: ViewFiles, host: HostFiles, refuse: Refuse): PlannedPlace {
  const { name, source, readOnly, recursiveReadOnly, followsHost } = mount
  const target = files.resolve(mount.containerPath)
  if (target === '/') return refuse('that is all there is')
  const kind = host.look(source)?.kind ?? refuse(`${source} is not there`)
  if (kind === 'link') return refuse(`${source} is a link`)
  const common = { target, source, name, readOnly, recursiveReadOnly, followsHost }
  const ancestor = deepestThere(target, files)
  if (files.look(ancestor)?.kind !== 'directory' && ancestor !== target) return refuse(`${ancestor} is not a directory`)
  if (ancestor === target) {
    const isDirectory = files.look(target)?.kind === 'directory'
    if (isDirectory !== (kind === 'directory'))
      return refuse(isDirectory ? 'a file cannot be over a directory' : 'a directory cannot be over a file')
    const over = files.hostPath(target)
    return { place: { ...common, ...(over === undefined ? {} : { over }) }, making: [], way: [] }
  }
  const missing: MadeFile[] = pathsTo(target)
    .filter((path) => path.length > ancestor.length)
    .map((path) => ({ path, kind: path === target && kind !== 'directory' ? 'file' : 'directory' }))
  const volume = files.shownAt(ancestor)
  if (volume === undefined) {
    if (kernelDirectories.some((directory) => isAtOrBelow(directory, ancestor)))
      return refuse(`nothing can be made in ${ancestor}`)
    return { place: common, making: missing, way: ['/', ...pathsTo(ancestor)].filter((path) => !isMade(path, files)) }
  }
  const outer = volume as Place
  if (outer.readOnly) return refuse(`it is not in volume "${outer.name}", which is read-only`)
  const making = {
    volume: volume.source,
    way: relative(volume.target, target),
    kind: missing.at(-1)?.kind ?? 'directory',
  }
  return { place: { ...common, over: join(making.volume, making.way), making }, making: [], way: [] }
}

const isMade = (path: string, files: ViewFiles): boolean => files.hostPath(path) === undefined

/** Of a path and those that lead to it the longest that is there. */
function deepestThere(path: string, files: ViewFiles): string {
  return pathsTo(path).findLast((each) => files.look(each) !== undefined) ?? '/'
}

/** The paths that lead to one, and itself, without the root. */
function pathsTo(path: string): readonly string[] {
  const names = path.split('/').filter(Boolean)
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
}

function namesOf(directory: string, host: HostFiles, refuse: Refuse): readonly string[] {
  try {
    return host.names(directory)
  } catch (error) {
    return refuse(`${directory} of this host does not have it, and cannot be read: ${(error as Error).message}`)
  }
}

function rebuiltDirectory(
  path: string,
  { mode, uid, gid }: FoundFile,
  host: HostFiles,
  rebuilt: ReadonlyMap<string, unknown>,
  made: ReadonlyMap<string, unknown>,
): RebuiltDirectory {
  const kinds = { directory: [] as string[], file: [] as string[], link: [] as string[] }
  for (const name of host.names(path)) {
    const each = join(path, name)
    const kind = rebuilt.has(each) || made.has(each) ? undefined : host.look(each)?.kind
    if (kind !== undefined) kinds[kind].push(name)
  }
  return { path, mode, uid, gid, directories: kinds.directory, files: kinds.file, links: kinds.link }
}
