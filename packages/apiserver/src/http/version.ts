import type { IncomingMessage, ServerResponse } from 'node:http'
import { kubernetesVersion } from '@coracle/api'
import { requireServedType } from './media-types.ts'
import { sendPrettyJson } from './respond.ts'
import { sourceCommit } from './source-commit.ts'

/** What tells clients of which Kubernetes version this API is. */
export const serverVersion = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
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
  const { gitTreeState, buildDate, goVersion, compiler, platform, ...versions } = serverVersion
  const build = { gitTreeState, buildDate, goVersion, compiler, platform }
  sendPrettyJson(response, 200, { ...versions, gitCommit: sourceCommit(), ...build })
  return true
}
