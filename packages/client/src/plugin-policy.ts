import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, normalize } from 'node:path'

/** Which credential plugins may run: none, or those of a list, whose commands are paths or names on the PATH (client-go's PluginPolicy). */
export type PluginPolicy =
  | { readonly type: 'DenyAll' }
  | { readonly type: 'Allowlist'; readonly commands: readonly string[] }

/** Throws an Error, in client-go's words, where a plugin may not run. */
export function checkPlugin(given: string, policy: PluginPolicy): void {
  const command = normalize(given)
  if (policy.type === 'DenyAll') {
    throw new Error(`getting credentials: plugin ${JSON.stringify(command)} not allowed: policy set to "DenyAll"`)
  }
  if (policy.commands.includes(command)) return
  const path = findProgram(command)
  if (path === undefined) {
    const problem = `exec: ${JSON.stringify(command)}: executable file not found in $PATH`
    throw new Error(
      `getting credentials: plugin path ${JSON.stringify(command)} cannot be resolved for credential plugin allowlist check: ${problem}`,
    )
  }
  if (policy.commands.some((allowed) => allowed === path || findProgram(allowed) === path)) return
  throw new Error(
    `getting credentials: plugin path ${JSON.stringify(path)} is not permitted by the credential plugin allowlist`,
  )
}

/** The file that a command names: itself where it is a path, or the first of the PATH that can be run. */
function findProgram(command: string): string | undefined {
  if (command.includes('/')) return isProgram(command) ? command : undefined
  const directories = (process.env.PATH ?? '').split(delimiter).filter((directory) => isAbsolute(directory))
  return directories.map((directory) => join(directory, command)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
