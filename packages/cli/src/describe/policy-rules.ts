import { compareText, goText, type PolicyRule } from '@coracle/api'
import type { Description } from './description.ts'

/** What a role allows, in as few lines as say it: each resource with all its verbs (kubectl's util/rbac). */
export function describePolicyRules(text: Description, rules: readonly PolicyRule[]): void {
  text.heading(0, 'PolicyRule').line(1, 'Resources\tNon-Resource URLs\tResource Names\tVerbs')
  text.line(1, '---------\t-----------------\t--------------\t-----')
  for (const { resource, url, resourceName, verbs } of compactRules(rules)) {
    text.line(1, [resource, listText(url), listText(resourceName), goText(verbs)].join('\t'))
  }
}

/** One resource or path, all objects or one, and what may be done with it. */
interface CompactRule {
  readonly group: string | undefined
  /** As people write it: `deployments.apps/scale`. */
  readonly resource: string
  readonly plainResource: string | undefined
  readonly url: string | undefined
  readonly resourceName: string | undefined
  readonly verbs: readonly string[]
}

const listText = (item: string | undefined): string => goText(item === undefined ? [] : [item])

/** Rules broken down to single resources, names and verbs, and what differs by verb alone put together again. */
function compactRules(rules: readonly PolicyRule[]): readonly CompactRule[] {
  const byResource = new Map<string, CompactRule>()
  const paths: CompactRule[] = []
  for (const rule of rules.flatMap(breakDown)) {
    if (rule.url !== undefined) {
      paths.push(rule)
      continue
    }
    const key = JSON.stringify([rule.group, rule.plainResource, rule.resourceName])
    const before = byResource.get(key)
    const verbs = [...new Set([...(before?.verbs ?? []), ...rule.verbs])]
    byResource.set(key, { ...rule, verbs })
  }
  return [...paths, ...byResource.values()].toSorted((a, b) => compareText(goStructure(a), goStructure(b)))
}

function breakDown({ verbs, apiGroups = [], resources = [], resourceNames, nonResourceURLs = [] }: PolicyRule) {
  const names = resourceNames === undefined || resourceNames.length === 0 ? [undefined] : resourceNames
  const ofResources = apiGroups.flatMap((group) =>
    resources.flatMap((plainResource) =>
      verbs.flatMap((verb) =>
        names.map(
          (resourceName): CompactRule => ({
            group,
            plainResource,
            resource: withGroup(plainResource, group),
            url: undefined,
            resourceName,
            verbs: [verb],
          }),
        ),
      ),
    ),
  )
  const nothing = { group: undefined, plainResource: undefined, resource: '', resourceName: undefined }
  const ofPaths = nonResourceURLs.flatMap((url) =>
    verbs.map((verb): CompactRule => ({ ...nothing, url, verbs: [verb] })),
  )
  return [...ofResources, ...ofPaths]
}

/** `scale` of `deployments` in `apps`: `deployments.apps/scale`. */
function withGroup(resource: string, group: string): string {
  const slash = resource.indexOf('/')
  const [plural, subresource] = slash < 0 ? [resource, ''] : [resource.slice(0, slash), resource.slice(slash)]
  return `${group === '' ? plural : `${plural}.${group}`}${subresource}`
}

/** The rule as Go prints the structure: kubectl puts rules in order of that. */
function goStructure({ verbs, group, plainResource, resourceName, url }: CompactRule): string {
  const lists = [listText(group), listText(plainResource), listText(resourceName), listText(url)]
  const names = ['APIGroups', 'Resources', 'ResourceNames', 'NonResourceURLs']
  return `&PolicyRule{Verbs:${goText(verbs)},${lists.map((list, index) => `${names[index]}:${list},`).join('')}}`
}
