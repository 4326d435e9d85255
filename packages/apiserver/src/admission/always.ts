import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'

/** Admits everything, as no plugin at all does. Upstream has it, though it is deprecated. */
export const alwaysAdmit: AdmissionPlugin = { name: 'AlwaysAdmit' }

/** Refuses everything: for tests of clients. */
export const alwaysDeny: AdmissionPlugin = {
  name: 'AlwaysDeny',
  mutate(attributes, object) {
    throw forbiddenByAdmission(attributes, object, 'admission control is denying all modifications')
  },
  validate(attributes, object) {
    throw forbiddenByAdmission(attributes, object, 'admission control is denying all modifications')
  },
}
