import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'
import type { Command } from '../command.ts'
import { asUser, groupsOf, type ProcessUser } from '../process-user.ts'
import { tellingIdentity } from '../shim.ts'
import { utilLinuxProgram } from '../util-linux.ts'
import { restoring, variablesUnder } from '../variables.ts'

/** Names of variables on their way into a view: what makes it must not obey them. */
const variablePrefix = 'CORACLE_VIEW_'

/** Who has a view made, and for whom. */
export interface ViewUser {
  /** Whoever runs the node agent, where that is not root: it gets a user namespace. */
  readonly own?: { readonly uid: number; readonly gid: number }
  /** Whom root has run it. */
  readonly other?: ProcessUser | undefined
}

/** Where what makes a view is. */
export interface ViewPaths {
  /** The directory over which it is made, which is the root of all files in it. */
  readonly root: string
  /** The script that makes it. */
  readonly script: string
  /** Where the container's own process says which one it is, once it has its view. */
  readonly main: string
}

/** A view as one goes into it. */
export interface EnteredView extends Omit<ViewPaths, 'root'> {
  /** Undefined for one in place, which has no root of its own. */
  readonly root: string | undefined
  /** What the host is called there; undefined for its own name. */
  readonly hostname: string | undefined
}

/** The processes of a container that its namespaces are known by. */
export interface ViewProcesses {
  readonly shim: number
  readonly main: number
}

/** The descriptor on which a container that is started says that it has its view, or why not. */
export const viewReportFd = 4

/** What a container says there when it has its view and its directory; what comes before is warnings, or why there is none. */
const viewReportEnd = 'ok\n'

/** More that is said is not looked at. */
const viewReportBytesMax = 4_096

/** Why a container has not got its view; undefined where it has. */
export function viewReport(report: Readable): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = ''
    const end = () => {
      report.destroy()
      const why = said.trim() || 'it has ended before it had its mounts'
      resolve(said.endsWith(viewReportEnd) ? undefined : `failed to start container: ${why}`)
    }
    report.on('data', (piece: Buffer) => {
      said = (said + piece.toString()).slice(-viewReportBytesMax)
      if (said.endsWith(viewReportEnd)) end()
    })
    report.once('end', end).once('error', end)
  })
}

/**
 * What stands before the shim of a container with a view: the user namespace that root makes do without. The shim is in it, and sees the files of the
 * host; its child goes on to the mount namespace, for which there are others to follow it.
 */
export const beforeShim = ({ own }: ViewUser): readonly string[] =>
  own === undefined ? [] : [program('unshare'), '--user', '--map-root-user', '--']

/** The command, as what makes the view, goes into it, and becomes the command. */
export function makingView(command: Command, { root, script, main, hostname }: EnteredView, user: ViewUser): Command {
  const own = ['--mount', '--propagation', 'slave', ...(hostname === undefined ? [] : ['--uts'])]
  const making = [program('unshare'), ...own, '--', '/bin/sh', '-c', makingScript]
  const entering = root === undefined ? [] : [program('unshare'), ...ownNamespace(user), `--root=${root}`, '--']
  const inside =
    root === undefined
      ? inPlaceArgv(command, user, beginning, ownNamespaceArgv(user))
      : insideArgv(command, user, entering, root, beginning)
  return asEntering(command, [...making, 'coracle-view', main, script, hostname ?? '', ...inside])
}

/** The command beside a container with a view, in the same. */
export function joiningView(
  command: Command,
  { root, hostname }: Pick<EnteredView, 'root' | 'hostname'>,
  user: ViewUser,
  { shim, main }: ViewProcesses,
): Command {
  const nsenter = program('nsenter')
  const own = [`--mount=/proc/${main}/ns/mnt`, ...(hostname === undefined ? [] : [`--uts=/proc/${main}/ns/uts`])]
  const keeping = '--preserve-credentials'
  const outer =
    user.own === undefined ? [nsenter, ...own, '--'] : [nsenter, `--user=/proc/${shim}/ns/user`, ...own, keeping, '--']
  const inner = user.own === undefined ? [] : [nsenter, `--user=/proc/${main}/ns/user`, keeping]
  if (root === undefined) {
    const entering = inner.length === 0 ? [] : [...inner, '--']
    return asEntering(command, [...outer, ...inPlaceArgv(command, user, joining, entering)])
  }
  const entering =
    user.own === undefined
      ? [program('unshare'), `--root=${root}`, '--']
      : [...inner, `--root=${root}`, `--wd=${root}`, '--']
  return asEntering(command, [...outer, ...insideArgv(command, user, entering, root, joining)])
}

function asEntering({ env, enter: _, ...command }: Command, argv: readonly string[]): Command {
  return { ...command, argv, env: variablesUnder(variablePrefix, env), directory: '/' }
}

/** In its user namespace a container is who it was before it. */
export const ownNamespace = ({ own }: ViewUser): readonly string[] =>
  own === undefined ? [] : ['--user', `--map-user=${own.uid}`, `--map-group=${own.gid}`]

const ownNamespaceArgv = (user: ViewUser): readonly string[] =>
  user.own === undefined ? [] : [program('unshare'), ...ownNamespace(user), '--']

/**
 * Goes into the view. For another user one program changes the root and the user: what is run in the view may be the container's own, and must not be
 * run as root. Nor may programs give it more rights that obey what it has for /etc.
 */
function insideArgv(
  { argv, env, directory }: Command,
  { other }: ViewUser,
  entering: readonly string[],
  root: string,
  { changing, becoming }: InsideScripts,
): readonly string[] {
  const script = `${changing}${becoming}`
  const rest = ['/bin/sh', '-c', script, 'coracle-inside', directory, String(Object.keys(env).length), ...argv]
  if (other === undefined) return [...entering, ...rest]
  const groups = groupsOf(other).map((group) => `+${group}`)
  const user = [`--userspec=+${other.uid}:+${other.gid}`, `--groups=${groups.join(',')}`]
  return [program('setpriv'), '--no-new-privs', '--', chrootProgram(), ...user, root, ...rest]
}

/** Becomes who the container is where nothing but its hosts file is another: in a directory that it need not be able to pass to, as without a view. */
function inPlaceArgv(
  { argv, env, directory }: Command,
  { other }: ViewUser,
  { changing, becoming }: InsideScripts,
  entering: readonly string[],
): readonly string[] {
  const who = other === undefined ? entering : asUser(other)
  const rest = ['/bin/sh', '-c', becoming, 'coracle-inside', String(Object.keys(env).length), ...argv]
  return ['/bin/sh', '-c', `${changing}exec "$@"\n`, 'coracle-inside', directory, ...who, ...rest]
}

/** Where `chroot` of coreutils is. With a `+` before a number it asks nobody for names. */
const chrootPrograms: readonly string[] = ['/usr/sbin/chroot', '/usr/bin/chroot', '/sbin/chroot']

function chrootProgram(): string {
  const path = chrootPrograms.find((each) => existsSync(each))
  if (path !== undefined) return path
  throw new Error(
    'failed to start container: volumes at absolute paths for another user take the program "chroot" of coreutils',
  )
}

/**
 * $1 is the file for the identity, $2 the script that makes the view, $3 the name of the host if it has one of its own, the rest is what goes into it. What
 * they say of failures is part of the report. Root of a user namespace names the host by a program alone: where there is none, it keeps its name.
 */
const makingScript = `
exec 5>&2 2>&${viewReportFd}
PATH=/usr/sbin:/usr/bin:/sbin:/bin
. "$2"
[ -z "$3" ] || (printf '%s' "$3" >/proc/sys/kernel/hostname || hostname "$3" || :) 2>/dev/null
${tellingIdentity} || exit 128
shift 3
unset PATH
exec "$@"
`

/** What a shell does on the way to a command. */
interface InsideScripts {
  /** $1 is the directory to be in. */
  readonly changing: string
  /** $1 is the number of variables, the rest the command. */
  readonly becoming: string
}

/** Beside a container. */
const joining: InsideScripts = {
  changing: 'cd -- "$1" || exit 126\nshift\n',
  becoming: `${restoring(variablePrefix)}exec "$@"\n`,
}

/** The same of a container that is started. The node agent may have gone. */
const beginning: InsideScripts = {
  changing: 'cd -- "$1" || exit 128\nshift\n',
  becoming: `
(printf '${viewReportEnd.replace('\n', '\\n')}' >&${viewReportFd}) 2>/dev/null
exec 2>&5 5>&- ${viewReportFd}>&-
${joining.becoming}`,
}

const viewPrograms: readonly string[] = ['unshare', 'nsenter', 'setpriv', 'mount']

/** The programs of util-linux that views take and this host does not have. */
export const missingPrograms = (): readonly string[] => viewPrograms.filter((name) => found(name) === undefined)

/** Where a program of util-linux is. Throws where there is none. */
export function program(name: string): string {
  const path = found(name)
  if (path !== undefined) return path
  throw new Error(
    `failed to start container: volumes at absolute paths take the program "${name}" of util-linux on this host`,
  )
}

const found = (name: string): string | undefined => utilLinuxProgram([`/usr/bin/${name}`, `/bin/${name}`])
