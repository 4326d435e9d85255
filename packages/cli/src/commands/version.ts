import { CliError } from '../cli-error.ts'
import { checkConnection } from '../connection.ts'
import type { Host } from '../host.ts'
import { serialize } from '../output/serialize.ts'
import { ownVersion } from '../own-version.ts'
import { type ConnectionFlags, withSession } from '../session.ts'

export interface VersionFlags extends ConnectionFlags {
  readonly client?: boolean
  readonly output?: string
}

/** `coracle version` */
export async function version(host: Host, args: readonly string[], flags: VersionFlags): Promise<void> {
  const { output } = flags
  if (flags.client !== true) await checkConnection(host, flags)
  // Who asks no server is asked for no arguments either, as with kubectl.
  if (args.length > 0 && flags.client !== true) throw new CliError(`extra arguments: [${args.join(' ')}]`)
  if (output !== undefined && output !== 'json' && output !== 'yaml') {
    throw new CliError("--output must be 'yaml' or 'json'")
  }
  const clientVersion = { gitVersion: `v${ownVersion()}` }
  // What is known here is told even where no server answers.
  if (output === undefined) host.stdout.write(`Client Version: ${clientVersion.gitVersion}\n`)
  const show = async (serverVersion: ServerVersion | undefined): Promise<void> => {
    const versions = { clientVersion, ...(serverVersion === undefined ? {} : { serverVersion }) }
    if (output === 'json') host.stdout.write(`${JSON.stringify(versions, undefined, 2)}\n`)
    else if (output !== undefined) host.stdout.write(await serialize(versions, output))
    else if (serverVersion !== undefined) host.stdout.write(`Server Version: ${serverVersion.gitVersion}\n`)
  }
  const serverVersion =
    flags.client === true
      ? undefined
      : await askServer(host, flags).catch(async (error: unknown) => {
          await show(undefined)
          throw error
        })
  await show(serverVersion)
}

interface ServerVersion {
  readonly gitVersion: string
}

function askServer(host: Host, flags: VersionFlags): Promise<ServerVersion> {
  return withSession(host, flags, async ({ client }) => JSON.parse(await client.rawGet('/version')))
}
