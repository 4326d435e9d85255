import { atomicList, list, mapOf, object, optional, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { authenticationV1 } from '../meta/names.ts'

/** Who somebody is. */
export interface UserInfo extends Infer<typeof userInfo> {}
export const userInfo = object(`${authenticationV1}.UserInfo`, 'Who somebody is, as authentication found out.', {
  extra: optional(mapOf(list(string())), 'What else the authenticator says of the user.'),
  groups: optional(atomicList(string()), 'The groups the user is in.'),
  uid: optional(string(), 'Tells users of the same name apart who existed at different times.'),
  username: optional(string(), 'The name of the user, unique among those who are active.'),
})
