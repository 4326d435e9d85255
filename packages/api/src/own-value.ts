/** The value of a name that somebody else has chosen: what all objects have, such as `constructor`, is in no map that does not have it itself. */
export const ownValue = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map === undefined || (name in Object.prototype && !Object.hasOwn(map, name)) ? undefined : map[name]
