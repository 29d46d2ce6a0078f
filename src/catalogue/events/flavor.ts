/** The flavor of a track: a type and a subtype, such as `presenter/source`. */
export const FLAVOR = /^[^/\s\p{C}]{1,128}\/[^/\s\p{C}]{1,128}$/u;
