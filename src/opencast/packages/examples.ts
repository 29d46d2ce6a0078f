import { packageXml, workflowXml } from './package-xml.ts';

/** As the reference document shows them. */
export const EXAMPLE_ID = '4c9f3f8e-2d6b-4a57-9b1e-7f0c5a3d2e61';

const SHOWN = {
  id: EXAMPLE_ID,
  start: new Date('2026-10-12T08:15:00Z'),
  tracks: [
    {
      id: '5b1c7a53-6b1f-4c0e-9d55-2f8e3a1b7c90',
      flavor: 'presenter/source',
      mediatype: 'video/mp4',
      tags: [],
      url: `https://inlet.example.org/files/mediapackage/${EXAMPLE_ID}/5b1c7a53-6b1f-4c0e-9d55-2f8e3a1b7c90/camera.mp4`,
      size: 48_210_433,
    },
  ],
  attachments: [],
  catalogs: [],
};

export const EXAMPLE_PACKAGE = packageXml(SHOWN);
export const EXAMPLE_WORKFLOW = workflowXml(
  {
    id: 42,
    state: 'INSTANTIATED',
    definition: 'schedule-and-upload',
    title: 'Process upon upload and schedule',
  },
  SHOWN,
);

/** A request sends back what the last one answered. */
export const ECHO = { mediaPackage: packageXml({ ...SHOWN, tracks: [] }) };

export const EXAMPLE_DUBLIN_CORE = `<dublincore xmlns="http://www.opencastproject.org/xsd/1.0/dublincore/" xmlns:dcterms="http://purl.org/dc/terms/"><dcterms:title>Algebra I</dcterms:title></dublincore>`;
