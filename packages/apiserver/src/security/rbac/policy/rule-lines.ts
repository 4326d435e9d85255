import type { PolicyRule } from '@coracle/api'

/**
 * A rule as default roles are written here: verbs, API groups and resources, and the names of objects where only some are meant.
 * Parts are separated by spaces, what is in them by commas. `core` is the group without a name; `url` in its place says that
 * paths follow. `read`, `write` and `change` are several verbs.
 */
export type RuleLine = string

const verbsOf: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'update', 'patch', 'delete', 'deletecollection'],
  change: ['update', 'patch'],
}

/** The rules that lines say. Verbs are in alphabetical order, as upstream has them. */
export function rulesOf(lines: readonly RuleLine[]): readonly PolicyRule[] {
  return lines.map((line) => {
    const [verbs = '', groups = '', resources = '', names] = line.split(' ')
    const allVerbs = verbs.split(',').flatMap((verb) => verbsOf[verb] ?? [verb])
    const rule = { verbs: allVerbs.sort() }
    if (groups === 'url') return { nonResourceURLs: resources.split(','), ...rule }
    return {
      apiGroups: groups.split(',').map((group) => (group === 'core' ? '' : group)),
      ...(names === undefined ? {} : { resourceNames: names.split(',') }),
      resources: resources.split(','),
      ...rule,
    }
  })
}

/** To tell of what happens. */
export const events: RuleLine = 'create,change core,events.k8s.io events'
