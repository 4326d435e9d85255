import { apiVersionOf, compareText } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { plainRefusedConnection } from '../refused-connection.ts'
import { type ConnectionFlags, withSession } from '../session.ts'

/** `coracle api-versions` */
export async function apiVersions(host: Host, flags: ConnectionFlags): Promise<void> {
  await withSession(host, flags, async ({ client }) => {
    const resources = await client.discover().catch((error: unknown) => {
      const plain = plainRefusedConnection(error, 'Get', '/api?timeout=32s')
      throw plain === undefined ? error : new CliError(`couldn't get available api versions from server: ${plain}`)
    })
    const versions = new Set(resources.map(apiVersionOf))
    for (const version of [...versions].sort(compareText)) host.stdout.write(`${version}\n`)
  })
}
