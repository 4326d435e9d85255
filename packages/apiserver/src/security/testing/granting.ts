import type { Authorizer } from '../../request.ts'
import { type RuleLine, rulesOf } from '../rbac/policy/rule-lines.ts'
import { accessOf, RoleRules } from '../rbac/role-rules.ts'

/** Lets users do what rules allow, by their names, and members of `system:masters` everything. */
export function granting(grants: Readonly<Record<string, readonly RuleLine[]>>): Authorizer {
  const rules = new Map(Object.entries(grants).map(([name, lines]) => [name, new RoleRules(rulesOf(lines))]))
  return {
    refuse(user, attributes) {
      const allowed =
        user.groups.includes('system:masters') || rules.get(user.name)?.allow(accessOf(attributes)) === true
      return allowed ? undefined : ''
    },
  }
}
