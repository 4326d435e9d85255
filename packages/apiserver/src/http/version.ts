import type { IncomingMessage, ServerResponse } from 'node:http'
import { kubernetesVersion } from '@coracle/api'
import { requireServedType } from './media-types.ts'
import { sendPrettyJson } from './respond.ts'
import { sourceCommit } from './source-commit.ts'

/** What tells clients of which Kubernetes version this API is. */
export const serverVersion = {
  major: '1',
  minor: '36',
  gitVersion: kubernetesVersion,
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const

/** Answers `/version`, which there is in JSON alone. Throws NotAcceptable for who takes none. */
export function handleVersion(path: string, { headers }: IncomingMessage, response: ServerResponse): boolean {
  if (path !== '/version' && path !== '/version/') return false
  requireServedType(headers.accept, ['application/json'])
  const { major, minor, gitVersion, ...others } = serverVersion
  sendPrettyJson(response, 200, { major, minor, gitVersion, gitCommit: sourceCommit(), ...others })
  return true
}
