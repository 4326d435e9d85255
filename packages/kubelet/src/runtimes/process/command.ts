import { accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { ContainerConfig, EnvironmentVariable } from '../runtime.ts'

/** Where commands are looked for when neither the container nor the node agent sets a PATH. */
const pathDefault = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** A command as it is started. */
export interface Command {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly directory: string
}

/**
 * What a container runs. Throws, in the words people know from container runtimes, where the working directory or the
 * executable is not there.
 */
export function commandOf(config: ContainerConfig, workDirectory: string, identity: EnvironmentVariable[]): Command {
  const directory = directoryOf(config, workDirectory)
  const env = environmentOf(config, identity)
  const [name = '', ...args] = [...config.command, ...config.args]
  return {
    argv: withOddNames(env, [executableOf(name, env, directory), ...args]),
    env,
    directory,
  }
}

/** A command to run beside the container's own, in its environment. */
export function besideCommand(
  config: ContainerConfig,
  workDirectory: string,
  identity: EnvironmentVariable[],
  command: readonly string[],
): Command {
  return commandOf({ ...config, command, args: [] }, workDirectory, identity)
}

/** Where a container starts. Throws where there is no such directory. */
export function directoryOf({ workingDirectory }: ContainerConfig, workDirectory: string): string {
  if (workingDirectory === undefined || workingDirectory === '') return workDirectory
  const directory = resolve('/', workingDirectory)
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return directory
  throw new Error(
    `failed to start container: chdir to cwd ("${directory}") set in workingDir failed: no such directory on this host`,
  )
}

/** The node agent's own variables are not the container's business, apart from where programs and the home are. */
function environmentOf(
  config: ContainerConfig,
  identity: readonly EnvironmentVariable[],
): Readonly<Record<string, string>> {
  const base: Record<string, string> = {
    PATH: process.env.PATH ?? pathDefault,
    HOME: process.env.HOME ?? '/',
  }
  for (const { name, value } of [...identity, ...config.env]) base[name] = value
  return base
}

function executableOf(name: string, env: Readonly<Record<string, string>>, directory: string): string {
  if (name.includes('/')) {
    const path = isAbsolute(name) ? name : join(directory, name)
    const problem = problemOf(path)
    if (problem === undefined) return path
    throw new Error(`failed to start container: exec: "${name}": ${problem}`)
  }
  const path = (env.PATH ?? pathDefault)
    .split(':')
    .map((entry) => join(isAbsolute(entry) ? entry : join(directory, entry), name))
    .find((candidate) => name !== '' && problemOf(candidate) === undefined)
  if (path !== undefined) return path
  throw new Error(`failed to start container: exec: "${name}": executable file not found in $PATH`)
}

function problemOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return `stat ${path}: no such file or directory`
  if (stat.isDirectory()) return 'is a directory'
  try {
    accessSync(path, constants.X_OK)
    return undefined
  } catch {
    return 'permission denied'
  }
}

/** A shell drops variables whose names are none to it; `env` puts those back and becomes the command. */
function withOddNames(env: Readonly<Record<string, string>>, argv: readonly string[]): readonly string[] {
  const odd = Object.entries(env).filter(([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
  if (odd.length === 0) return argv
  return ['/usr/bin/env', ...odd.map(([name, value]) => `${name}=${value}`), ...argv]
}
