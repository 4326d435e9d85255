import type { ApiService, Resource } from '@coracle/api'
import type { DiscoveredResource } from '@coracle/client'
import { isConditionTrue } from '@coracle/controller-runtime'

/** What other servers behind this one keep in namespaces. */
export interface OtherServers {
  /** What of it can be deleted: one version of each. */
  readonly resources: readonly Resource[]
  /** Of what nobody can say what there is, in upstream's words: its servers do not answer. */
  readonly unknown?: string
}

/** Tells what those servers keep that APIServices name and that answer, by what has been discovered of all servers. */
export function whatOthersKeep(all: readonly ApiService[], discovered: readonly DiscoveredResource[]): OtherServers {
  const services = all.filter(({ spec }) => spec?.service !== undefined)
  const answers = ({ status }: ApiService) => isConditionTrue(status?.conditions, 'Available')
  const served = new Set(services.filter(answers).map(groupVersionOf))
  const resources = new Map<string, DiscoveredResource>()
  for (const each of discovered) {
    const { group, version, plural, namespaced, verbs, isPreferredVersion } = each
    if (!namespaced || !verbs.includes('delete') || !served.has(`${group}/${version}`)) continue
    const key = `${group}/${plural}`
    if (isPreferredVersion || !resources.has(key)) resources.set(key, each)
  }
  const silent = services.filter((service) => !answers(service)).map(groupVersionOf)
  return { resources: [...resources.values()], ...(silent.length === 0 ? {} : { unknown: unknownText(silent.sort()) }) }
}

const groupVersionOf = ({ spec }: ApiService): string => `${spec?.group}/${spec?.version}`

function unknownText(silent: readonly string[]): string {
  const why = silent.map((each) => `${each}: stale GroupVersion discovery: ${each}`).join(', ')
  return `Discovery failed for some groups, ${silent.length} failing: unable to retrieve the complete list of server APIs: ${why}`
}
