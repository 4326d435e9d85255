import { apiVersionOf, compareText } from '@coracle/api'
import type { Host } from '../host.ts'
import { type ConnectionFlags, withSession } from '../session.ts'

/** `coracle api-versions` */
export async function apiVersions(host: Host, flags: ConnectionFlags): Promise<void> {
  await withSession(host, flags, async ({ client }) => {
    const versions = new Set((await client.discover()).map(apiVersionOf))
    for (const version of [...versions].sort(compareText)) host.stdout.write(`${version}\n`)
  })
}
