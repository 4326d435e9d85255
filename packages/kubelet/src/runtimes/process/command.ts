import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { ContainerConfig, ContainerUser, EnvironmentVariable } from '../runtime.ts'
import { containerMark } from './marked-processes.ts'
import { closedDirectory } from './passage.ts'
import type { ProcessUser } from './process-user.ts'
import { addingScript, variablesUnder } from './variables.ts'
import type { ViewFiles } from './view/view-files.ts'

/** Where commands are looked for when neither the container nor the node agent sets a PATH. */
const pathDefault = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** What every container is told of itself. */
export interface ContainerIdentity {
  readonly id: string
  readonly variables: readonly EnvironmentVariable[]
  /** Who it is; absent: whoever runs the node agent. */
  readonly user?: ProcessUser | undefined
  /** The files that it sees; absent: those of the host. */
  readonly view?: ViewFiles | undefined
}

/** A command as it is started. */
export interface Command {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly directory: string
  /** Who is to run it, which `asItsUser` sees to; absent: whoever runs the node agent. */
  readonly user?: ProcessUser
  /** What `asItsUser` does in place of that for a command in a view of its own; absent: it sees the files of the host. */
  readonly enter?: (command: Command) => Command
}

/**
 * What a container runs. Throws, in the words people know from container runtimes, where the working directory or the
 * executable is not there.
 */
export function commandOf(config: ContainerConfig, workDirectory: string, identity: ContainerIdentity): Command {
  const { user, view } = identity
  const directory = directoryOf(config, workDirectory, user, view)
  const common = { directory, ...(user === undefined ? {} : { user }) }
  const env = environmentOf(config, identity)
  const [name = '', ...args] = [...config.command, ...config.args]
  const argv = [executableOf(name, env, directory, view), ...args]
  const entries = Object.entries(env)
  const odd = entries.filter((entry) => !isShellName(entry[0]))
  if (odd.length === 0) return { ...common, argv, env }
  const plain = Object.fromEntries(entries.filter(([variable]) => isShellName(variable)))
  return {
    ...common,
    argv: ['/bin/sh', '-c', addingScript(oddPrefix), 'coracle-variables', String(odd.length), ...argv],
    env: { ...plain, ...variablesUnder(oddPrefix, Object.fromEntries(odd)) },
  }
}

/** Names of the variables that a shell does not hand on, until `env` puts them back. */
const oddPrefix = 'CORACLE_ODD_'

/** A command to run beside the container's own, in its environment. Throws as `commandOf`. */
export function besideCommand(
  config: ContainerConfig,
  workDirectory: string,
  identity: ContainerIdentity,
  command: readonly string[],
): Command {
  try {
    return commandOf({ ...config, command, args: [] }, workDirectory, identity)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new Error(error.message.replace('failed to start container:', 'failed to exec in container:'))
  }
}

/** Where a container starts. Throws where there is no such directory, or it is closed to the container's user. */
export function directoryOf(
  { workingDirectory }: ContainerConfig,
  workDirectory: string,
  user?: ContainerUser,
  view?: ViewFiles,
): string {
  if (workingDirectory === undefined || workingDirectory === '') return workDirectory
  const directory = resolve('/', workingDirectory)
  const path = onHost(directory, view)
  const isThere = path === undefined || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  // Who may pass to what is mounted need not pass to where that is.
  const mayClose = user !== undefined && path !== undefined && (view === undefined || path === view.resolve(directory))
  if (isThere && !(mayClose && closedDirectory(path, user) !== undefined)) return directory
  const why = isThere ? 'permission denied' : 'no such directory on this host'
  throw new Error(`failed to start container: chdir to cwd ("${directory}") set in workingDir failed: ${why}`)
}

/**
 * The node agent's own variables are not the container's business, apart from where programs and the home are. The
 * mark is the container's whatever its configuration says, or another's end would end it.
 */
function environmentOf(
  config: ContainerConfig,
  { id, variables, user }: ContainerIdentity,
): Readonly<Record<string, string>> {
  const base: Record<string, string> = {
    PATH: process.env.PATH ?? pathDefault,
    HOME: user?.home ?? process.env.HOME ?? '/',
  }
  for (const { name, value } of [...variables, ...config.env]) base[name] = value
  return { ...base, [containerMark]: id }
}

/** Where on the host a file of a container is; undefined for a directory that is nowhere but in its view. */
const onHost = (path: string, view: ViewFiles | undefined): string | undefined =>
  view === undefined ? path : view.hostPath(path)

function executableOf(
  name: string,
  env: Readonly<Record<string, string>>,
  directory: string,
  view: ViewFiles | undefined,
): string {
  if (name.includes('/')) {
    const path = isAbsolute(name) ? name : join(directory, name)
    const problem = problemOf(path, view)
    if (problem === undefined) return path
    throw new Error(`failed to start container: exec: "${name}": ${problem}`)
  }
  const path = (env.PATH ?? pathDefault)
    .split(':')
    .map((entry) => join(isAbsolute(entry) ? entry : join(directory, entry), name))
    .find((candidate) => name !== '' && problemOf(candidate, view) === undefined)
  if (path !== undefined) return path
  throw new Error(`failed to start container: exec: "${name}": executable file not found in $PATH`)
}

function problemOf(path: string, view: ViewFiles | undefined): string | undefined {
  const file = onHost(path, view)
  if (file === undefined) return 'is a directory'
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return `stat ${path}: no such file or directory`
    if (stat.isDirectory()) return 'is a directory'
    accessSync(file, constants.X_OK)
    return undefined
  } catch {
    return 'permission denied'
  }
}

/** A shell drops variables whose names are none to it, and does not let anybody set some of its own. */
function isShellName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !shellsOwn.has(name)
}

const shellsOwn: ReadonlySet<string> = new Set(['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID'])
