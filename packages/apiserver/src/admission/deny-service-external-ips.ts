import { type Service, services } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'
import { forbiddenByAdmission } from './forbidden.ts'
import { creates, updates } from './stored-objects.ts'

/** Services get no external addresses that they have not had: whoever may write services could take the traffic of others with them. */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',
  validate(attributes, object) {
    if (!creates(attributes, services) && !updates(attributes, services)) return
    const had = (attributes.old as Service | undefined)?.spec?.externalIPs ?? []
    const has = (object as Service).spec?.externalIPs ?? []
    if (has.every((address) => had.includes(address))) return
    throw forbiddenByAdmission(attributes, object, 'Use of external IPs is denied by admission control')
  },
}
