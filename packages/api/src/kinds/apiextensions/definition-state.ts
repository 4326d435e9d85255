import type { CustomResourceDefinition } from './custom-resource-definition-schema.ts'

/** Whether a definition has a condition of this type that holds. */
export function hasTrueCondition({ status }: CustomResourceDefinition, type: string): boolean {
  return status?.conditions?.some((each) => each.type === type && each.status === 'True') === true
}

/** The version that objects are stored in. */
export function storageVersionOf({ spec }: Pick<Partial<CustomResourceDefinition>, 'spec'>): string {
  return spec?.versions?.find(({ storage }) => storage)?.name ?? ''
}
