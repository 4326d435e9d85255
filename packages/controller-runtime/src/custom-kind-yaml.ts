import type { CustomResourceDefinition } from '@coracle/api'
import { stringify } from 'yaml'
import type { CustomKind } from './custom-kind.ts'

/** The CustomResourceDefinitions of kinds as YAML documents, for `kubectl apply -f -`. */
export function customKindYaml(kinds: readonly Pick<CustomKind, 'definition'>[]): string {
  return kinds.map(({ definition }) => `---\n${stringify(definition, { lineWidth: 0 })}`).join('')
}

/** The kinds among the exports of a module. */
export function customKindsOf(module: object): readonly Pick<CustomKind, 'definition'>[] {
  return Object.values(module).filter(isCustomKind)
}

function isCustomKind(value: unknown): value is Pick<CustomKind, 'definition'> {
  const { definition } = (value ?? {}) as { readonly definition?: Partial<CustomResourceDefinition> }
  return definition?.kind === 'CustomResourceDefinition'
}
