import { join } from 'node:path'
import { quoted } from '../terminal.ts'
import type { Place, RebuiltDirectory, ViewPlan } from './plan-view.ts'

/** How much may be in directories that are rebuilt for a view beside what the host has there. It is in memory. */
const rebuiltBytesMax = 64 * 1024 * 1024

/** Handles of the node agent to what a volume is mounted over, and to the volume. */
export interface PlaceHandles {
  readonly over: number | undefined
  readonly source: number
}

export interface ScriptParts {
  /** An empty directory of the host's, over which the view is made; `/` for a view in place. */
  readonly root: string
  /** Where what `mount` is to do at once is. */
  readonly tablePath: string
  /** What the file system says of itself that a path of the host is on, of which `ro`, `nosuid`, `nodev` and `noexec` count, and the mount points below it. */
  readonly mountsOf: (path: string) => { readonly options: readonly string[]; readonly below: readonly string[] }
  /**
   * Where root makes the view, and others may change volumes and directories of the host at that moment: the first place that they may have lead
   * elsewhere, and from that on the handles by which it is known that nothing else is mounted, nor elsewhere; undefined for a place that nobody can
   * have lead elsewhere.
   */
  readonly guard?: {
    readonly agentPid: number
    readonly from: number
    readonly handles: readonly (PlaceHandles | undefined)[]
  }
}

/** What makes a view, in a mount namespace of its own: a part of a shell script, and a table as fstab(5) has it. */
export interface ViewScript {
  readonly script: string
  readonly table: string
}

export function viewScript({ rebuilt, made, places }: ViewPlan, parts: ScriptParts): ViewScript {
  const { root, tablePath, guard } = parts
  const whole = root === '/' ? [] : [`/ ${escaped(root)} none rbind 0 0`]
  const lines = rebuilt.length === 0 ? whole : rebuilt.flatMap((each) => hostLines(each, root))
  const bound = places.slice(0, guard?.from)
  const guarded = guard === undefined ? [] : places.slice(guard.from)
  const script = [
    ...(rebuilt.length === 0 ? [] : rebuildScript(rebuilt, made, root)),
    `mount -c -a -T ${quoted(tablePath)}`,
    ...guarded.flatMap((place, index) => laterScript(place, parts, guard?.agentPid, guard?.handles[index])),
    ...places.flatMap((place) => readOnlyBelow(place, parts)),
  ]
  return {
    script: script.map((command) => `${command} || exit 128\n`).join(''),
    table: [...lines, ...bound.map((place) => placeLine(place, parts))].map((line) => `${line}\n`).join(''),
  }
}

/** Directories, empty files to mount over, links, and the modes that differ from what `mkdir` makes. */
function rebuildScript(rebuilt: readonly RebuiltDirectory[], made: ViewPlan['made'], root: string): readonly string[] {
  const at = (path: string) => quoted(`.${path}`)
  const inside = (names: (each: RebuiltDirectory) => readonly string[]) =>
    rebuilt.flatMap((each) => names(each).map((name) => join(each.path, name)))
  const directories = [
    ...rebuilt.map(({ path }) => path),
    ...inside(({ directories }) => directories),
    ...made.filter(({ kind }) => kind === 'directory').map(({ path }) => path),
  ]
  const files = [...inside(({ files }) => files), ...made.filter(({ kind }) => kind === 'file').map(({ path }) => path)]
  return [
    `mount -t tmpfs --make-unbindable -o mode=755,size=${rebuiltBytesMax} tmpfs ${quoted(root)}`,
    `cd ${quoted(root)}`,
    `mkdir -p -- ${directories.map(at).join(' ')}`,
    ...files.map((path) => `: >${at(path)}`),
    ...rebuilt.flatMap((each) => linksScript(each)),
    ...rebuilt.flatMap(({ path, mode, uid, gid }) => [
      ...((mode & 0o7777) === 0o755 ? [] : [`chmod ${(mode & 0o7777).toString(8)} ${at(path)}`]),
      // Owners that a user namespace does not have cannot be given.
      ...(uid === 0 && gid === 0 ? [] : [`{ chown ${uid}:${gid} ${at(path)} 2>/dev/null || :; }`]),
    ]),
    'cd /',
  ]
}

/** A link that has gone meanwhile is none of the view's. */
function linksScript({ path, links }: RebuiltDirectory): readonly string[] {
  if (links.length === 0) return []
  return [`{ cp -P -- ${links.map((name) => quoted(join(path, name))).join(' ')} ${quoted(`.${path}/`)} || :; }`]
}

/** What goes meanwhile is passed over. */
const hostLines = ({ path, directories, files }: RebuiltDirectory, root: string): readonly string[] =>
  [...directories, ...files]
    .map((name) => join(path, name))
    .map((each) => `${escaped(each)} ${escaped(join(root, each))} none rbind,nofail 0 0`)

function placeLine({ target, source, ...place }: Place, { root, mountsOf }: ScriptParts): string {
  const readOnly = place.readOnly ? ['ro', ...kept(mountsOf(source).options)] : []
  const options = ['rbind', ...(place.followsHost ? [] : ['rprivate']), ...readOnly]
  return `${escaped(source)} ${escaped(join(root, target))} none ${options.join(',')} 0 0`
}

/**
 * The same after what the table has. Where names may lead elsewhere at any moment, what is mounted over is opened first and compared, and what is
 * mounted afterwards.
 */
function laterScript(
  { target, source, readOnly, followsHost }: Place,
  { root, mountsOf }: ScriptParts,
  agentPid: number | undefined,
  handles: PlaceHandles | undefined,
): readonly string[] {
  const path = quoted(join(root, target))
  const remount = ['remount', 'bind', 'ro', ...kept(mountsOf(source).options)].join(',')
  const flags = [...(followsHost ? [] : ['--make-rprivate']), ...(readOnly ? [`-o ${remount} none`] : [])]
  const flagging = (mounted: string) => (flags.length === 0 ? [] : [`mount -c ${flags.join(' ')} ${mounted}`])
  if (handles === undefined) return [`mount -c --rbind ${quoted(source)} ${path}`, ...flagging(path)]
  const own = '/proc/self/fd/6'
  const isSame = (handle: number) =>
    `{ [ ${own} -ef /proc/${agentPid}/fd/${handle} ] || { printf '%s\\n' ${quoted(`${target} has been changed`)} >&2; false; }; }`
  return [
    `exec 6<${path}`,
    ...(handles.over === undefined ? [] : [isSame(handles.over)]),
    `mount -c --rbind ${quoted(source)} ${own}`,
    `exec 6<${path}`,
    isSame(handles.source),
    ...flagging(own),
    'exec 6<&-',
  ]
}

function readOnlyBelow(place: Place, { root, mountsOf }: ScriptParts): readonly string[] {
  if (!place.recursiveReadOnly) return []
  return mountsOf(place.source).below.map((point) => {
    const options = ['remount', 'bind', 'ro', ...kept(mountsOf(point).options)].join(',')
    return `mount -o ${options} none ${quoted(join(root, place.target, point.slice(place.source.length)))}`
  })
}

/** A mount that is made read-only loses what is not said again, which a user namespace may not take away. */
const kept = (options: readonly string[]): readonly string[] =>
  options.filter((option) => ['nosuid', 'nodev', 'noexec'].includes(option))

/** A path as fstab(5) has it: what is escaped is bytes, each an ASCII character of its own. */
const escaped = (path: string): string =>
  path.replace(/[\t-\r \\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
