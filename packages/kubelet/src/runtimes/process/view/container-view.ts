import { closeSync, fstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { type Mounted, mounted } from '@coracle/environment/mounts'
import { makeWithin, openExactly } from '../../../volumes/exact-path.ts'
import { type ContainerConfig, ContainerConfigError, type Mount } from '../../runtime.ts'
import { isInView } from '../mounts.ts'
import { closedDirectory } from '../passage.ts'
import { groupsOf, type ProcessUser } from '../process-user.ts'
import { type Place, planView, type ViewMount, type ViewPlan } from './plan-view.ts'
import { hostFiles, isAtOrBelow, ViewFiles } from './view-files.ts'
import { type PlaceHandles, viewScript } from './view-script.ts'

/** The files that a container sees, as a record keeps it. */
export interface ContainerView {
  readonly plan: ViewPlan
  /** Where it starts if it names no directory, as it calls it. */
  readonly workDirectory: string
  /** The file for its last words if it names none, as it calls it. */
  readonly messagePath: string
  /** It sees the host's own root, with a hosts file of its own and no more: then it can do what it could without. */
  readonly inPlace?: true
  /** What the host is called there; absent: its own name. */
  readonly hostname?: string
}

/** What a container has of its own on the host. */
export interface OwnPaths {
  readonly workDirectory: string
  readonly messagePath: string
}

/** Where that is in a view that hides it. */
const hiddenDirectory = '/.coracle'

/**
 * Plans the view of a container whose volumes are at absolute paths. What it has of its own is where it is on the host, unless a volume is mounted
 * over that, or its user may not pass there: then in `/.coracle`. The host is called as its pod says, undefined for its own name, where the container has a hosts file in
 * which to find that. Throws a `ContainerConfigError` where a volume cannot be where it should.
 */
export function createView(
  { mounts }: ContainerConfig,
  own: OwnPaths,
  user: ProcessUser | undefined,
  hostname: string | undefined,
): ContainerView {
  const wanted = mounts.filter(isInView).map(viewMount)
  const files = planFiles(wanted, mounts, own, user)
  return hostname !== undefined && wanted.some(isHostsFile) ? { ...files, hostname } : files
}

function planFiles(
  wanted: readonly ViewMount[],
  mounts: readonly Mount[],
  own: OwnPaths,
  user: ProcessUser | undefined,
): ContainerView {
  const plan = planView(wanted, hostFiles, user !== undefined)
  if (plan.rebuilt.length === 0 && wanted.every(isHostsFile)) return { plan, ...own, inPlace: true }
  const files = viewFiles({ plan })
  const isSeen = (path: string) => files.hostPath(path) === realpathSync(path)
  const passing = user && { ...user, supplementalGroups: groupsOf(user) }
  const isOpen = passing === undefined || closedDirectory(own.workDirectory, passing) === undefined
  if (isOpen && isSeen(own.workDirectory) && isSeen(own.messagePath)) return { plan, ...own }
  const linked = mounts.find(({ containerPath }) => !isAbsolute(containerPath))
  if (linked !== undefined) {
    throw new ContainerConfigError(
      `volumeMount "${linked.name}" cannot be mounted at ${linked.containerPath}: the directory that the container starts in is hidden by another volume: ` +
        `set an absolute mountPath, or keep the data elsewhere (--data-dir)`,
    )
  }
  const moved = { workDirectory: join(hiddenDirectory, 'work'), messagePath: join(hiddenDirectory, 'termination-log') }
  const ownMount = (name: keyof OwnPaths): ViewMount => ({
    name,
    containerPath: moved[name],
    source: realpathSync(own[name]),
    readOnly: false,
    recursiveReadOnly: false,
    followsHost: true,
  })
  return {
    plan: planView([...wanted, ownMount('workDirectory'), ownMount('messagePath')], hostFiles, user !== undefined),
    ...moved,
  }
}

/** A file that gives addresses names, and nobody rights. */
const isHostsFile = ({ containerPath }: ViewMount): boolean => resolve(containerPath) === '/etc/hosts'

export const viewFiles = ({ plan }: Pick<ContainerView, 'plan'>): ViewFiles => new ViewFiles(plan.places, plan.made)

/** Of a volume that is a part of another the links are taken as that has them, which have been followed: one that is there now is another's. */
function viewMount(mount: Mount): ViewMount {
  const { name, containerPath, hostPath = '', volumePath, readOnly, recursiveReadOnly, propagation } = mount
  if (propagation === 'Bidirectional') {
    throw new ContainerConfigError(
      `volumeMount "${name}" cannot be mounted at ${containerPath}: mountPropagation Bidirectional is not there on the process runtime`,
    )
  }
  if (containerPath.includes('\0')) throw new ContainerConfigError(`volumeMount "${name}" has a path with a NUL in it`)
  try {
    const source =
      volumePath === undefined ? realpathSync(hostPath) : join(realpathSync(volumePath), relative(volumePath, hostPath))
    return {
      name,
      containerPath,
      source,
      readOnly: readOnly === true,
      recursiveReadOnly: recursiveReadOnly === true,
      followsHost: propagation === 'HostToContainer',
    }
  } catch {
    throw new ContainerConfigError(
      `volumeMount "${name}" cannot be mounted at ${containerPath}: ${hostPath} is not there`,
    )
  }
}

/**
 * Writes what makes a view, and makes what other volumes lack for it. Until the result is called, handles are open by which a view that root makes is
 * known to be the planned one, whatever others do: they may share volumes with a container that is root.
 */
export function prepareView(
  { plan, inPlace }: ContainerView,
  paths: { readonly root: string; readonly script: string; readonly table: string },
  byRoot: boolean,
): () => void {
  for (const place of plan.places) {
    const { making } = place
    if (making !== undefined) told(place, () => makeWithin(making.volume, making.way, making.kind))
  }
  const opened: number[] = []
  const open = (path: string) => {
    const handle = openExactly(path)
    opened.push(handle)
    return handle
  }
  const close = () => {
    for (const handle of opened) closeSync(handle)
  }
  try {
    const guarded = byRoot ? guardedPlaces(plan.places) : new Set<Place>()
    const from = plan.places.findIndex((place) => guarded.has(place))
    const handles = (from < 0 ? [] : plan.places.slice(from)).map((place) =>
      guarded.has(place) ? told(place, () => handlesOf(place, open)) : undefined,
    )
    const mounts = mounted()
    const mountsOf = (path: string) => ({
      options: mountOf(path, mounts)?.options ?? [],
      below: mounts.map(({ point }) => point).filter((point) => point !== path && isAtOrBelow(path, point)),
    })
    const guard = from < 0 ? {} : { guard: { agentPid: process.pid, from, handles } }
    const root = inPlace === true ? '/' : paths.root
    const { script, table } = viewScript(plan, { root, tablePath: paths.table, mountsOf, ...guard })
    if (inPlace !== true) mkdirSync(root, { recursive: true, mode: 0o700 })
    writeFileSync(paths.script, script, { mode: 0o600 })
    writeFileSync(paths.table, table, { mode: 0o600 })
  } catch (error) {
    close()
    throw error
  }
  return close
}

/** Those that others than root may have lead elsewhere, and those in them. */
function guardedPlaces(places: readonly Place[]): ReadonlySet<Place> {
  const guarded = new Set<Place>()
  for (const place of places) {
    const { source, over, target } = place
    const isFixed = isRootsAlone(source) && (over === undefined || isRootsAlone(over))
    if (!isFixed || [...guarded].some((outer) => isAtOrBelow(outer.target, target))) guarded.add(place)
  }
  return guarded
}

/** What is no file and no directory, such as a socket, cannot be opened to be compared. */
function handlesOf({ source, over }: Place, open: (path: string) => number): PlaceHandles {
  const openFile = (path: string) => {
    const handle = open(path)
    const stat = fstatSync(handle)
    if (stat.isFile() || stat.isDirectory()) return handle
    throw new Error(`${path} is neither a file nor a directory, and others than root may replace it`)
  }
  return { source: openFile(source), over: over === undefined ? undefined : openFile(over) }
}

/** What is done for a place, with its name in the error where that fails. */
function told<T>({ name, target }: Place, act: () => T): T {
  try {
    return act()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'it is not there any more' : message
    throw new Error(`failed to start container: volume "${name}" cannot be mounted at ${target}: ${why}`)
  }
}

/** Whether nobody but root can have a path lead elsewhere. */
function isRootsAlone(path: string): boolean {
  const directory = dirname(path)
  const { uid, mode } = hostFiles.look(directory) ?? { uid: -1, mode: 0 }
  return uid === 0 && (mode & 0o022) === 0 && (directory === path || isRootsAlone(directory))
}

/** What a path is on: of the mounts that it is below the deepest, and there the last. */
const mountOf = (path: string, mounts: readonly Mounted[]): Mounted | undefined =>
  mounts
    .filter(({ point }) => isAtOrBelow(point, path))
    .reduce<Mounted | undefined>(
      (best, each) => (each.point.length >= (best?.point.length ?? 0) ? each : best),
      undefined,
    )
