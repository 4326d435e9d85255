import { compareText, type Resource } from '@coracle/api'
import type { HealthChecks } from './health.ts'
import { openIdPaths } from './openid-paths.ts'

/** Every path that is answered here or by a server behind this one, apart from resources, sorted: what `/` lists, as upstream does. */
export function rootPaths(
  groupVersions: readonly Pick<Resource, 'group' | 'version'>[],
  health: HealthChecks,
  has: { readonly metrics: boolean; readonly tokens: boolean; readonly flags: boolean },
): readonly string[] {
  const paths = new Set([
    '/api',
    '/apis',
    '/apis/',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/statusz',
    '/version',
  ])
  if (has.flags) paths.add('/flagz')
  if (has.metrics) paths.add('/metrics').add('/metrics/slis')
  if (has.tokens) for (const path of openIdPaths) paths.add(path)
  for (const { group, version } of groupVersions) {
    if (group === '') paths.add(`/api/${version}`)
    else paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  }
  for (const [name, checks] of Object.entries(health)) {
    paths.add(`/${name}`)
    for (const check of checks) paths.add(`/${name}/${check.name}`)
  }
  return [...paths].sort(compareText)
}
