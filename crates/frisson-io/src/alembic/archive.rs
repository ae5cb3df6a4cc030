//! The archive: a tree of objects, each with a tree of sampled properties.

use std::io::{self, Seek, Write};

use xxhash_rust::xxh3::xxh3_128;

use super::metadata::MetadataTable;
use super::ogawa::{Child, Ogawa};
use super::property::{Property, SampleType, Shape, write_compound_header};
use crate::remembered::Remembered;

/// Version of the library whose files ours are like; readers only compare it with their own.
const LIBRARY_VERSION: i32 = 10812;
const FILE_VERSION: i32 = 0;

/// An object of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectId(usize);

/// A compound property: a folder of properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompoundId(usize);

/// A scalar or array property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PropertyId(usize);

/// A time sampling of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplingId(u32);

struct Object {
    name: String,
    metadata: String,
    properties: CompoundId,
    children: Vec<ObjectId>,
}

struct Compound {
    name: String,
    metadata: String,
    children: Vec<Member>,
}

#[derive(Clone, Copy)]
enum Member {
    Compound(CompoundId),
    Property(PropertyId),
}

/// Times `start + i * step` [s].
#[derive(Clone, Copy, Debug, PartialEq)]
struct UniformSampling {
    start: f64,
    step: f64,
}

/// An archive being written. Samples go to the file at once; 8 bytes of each are kept.
pub struct Archive<W> {
    ogawa: Ogawa<W>,
    application: String,
    objects: Vec<Object>,
    compounds: Vec<Compound>,
    properties: Vec<Property>,
    samplings: Vec<UniformSampling>,
    remembered: Remembered<Child>,
    metadata: MetadataTable,
}

impl<W: Write + Seek> Archive<W> {
    /// The object that holds all others.
    pub const TOP: ObjectId = ObjectId(0);

    /// Starts an archive; `application` and `fps` are what hosts show about its origin.
    pub fn create(out: W, application: &str, fps: f64) -> io::Result<Self> {
        let mut archive = Self {
            ogawa: Ogawa::create(out)?,
            application: format!(
                "_ai_AlembicVersion=Alembic 1.8.12;_ai_Application={application};_ai_DCC_FPS={fps}"
            ),
            objects: Vec::new(),
            compounds: Vec::new(),
            properties: Vec::new(),
            // Sampling 0 belongs to everything that does not move.
            samplings: vec![UniformSampling { start: 0.0, step: 1.0 }],
            remembered: Remembered::default(),
            metadata: MetadataTable::default(),
        };
        archive.push_object("ABC", String::new());
        Ok(archive)
    }

    /// Adds the times `start + i * step` [s].
    pub fn add_uniform_sampling(&mut self, start: f64, step: f64) -> SamplingId {
        self.samplings.push(UniformSampling { start, step });
        SamplingId(self.samplings.len() as u32 - 1)
    }

    fn push_object(&mut self, name: &str, metadata: String) -> ObjectId {
        let properties = self.push_compound("", String::new());
        self.objects.push(Object {
            name: name.to_owned(),
            metadata,
            properties,
            children: Vec::new(),
        });
        ObjectId(self.objects.len() - 1)
    }

    fn push_compound(&mut self, name: &str, metadata: String) -> CompoundId {
        self.compounds.push(Compound { name: name.to_owned(), metadata, children: Vec::new() });
        CompoundId(self.compounds.len() - 1)
    }

    /// Adds an object; its name must have no slash and be new among its siblings.
    pub fn add_object(&mut self, parent: ObjectId, name: &str, metadata: String) -> ObjectId {
        let id = self.push_object(name, metadata);
        self.objects[parent.0].children.push(id);
        id
    }

    /// The folder of an object's properties.
    #[must_use]
    pub fn properties_of(&self, object: ObjectId) -> CompoundId {
        self.objects[object.0].properties
    }

    /// Adds a folder of properties.
    pub fn add_compound(&mut self, parent: CompoundId, name: &str, metadata: String) -> CompoundId {
        let id = self.push_compound(name, metadata);
        self.compounds[parent.0].children.push(Member::Compound(id));
        id
    }

    /// Adds a sampled property.
    pub fn add_property(
        &mut self,
        parent: CompoundId,
        name: &str,
        samples: SampleType<'_>,
        sampling: SamplingId,
    ) -> PropertyId {
        self.properties.push(Property::new(name, samples, sampling.0));
        let id = PropertyId(self.properties.len() - 1);
        self.compounds[parent.0].children.push(Member::Property(id));
        id
    }

    /// How many samples a property has.
    #[must_use]
    pub fn sample_count(&self, property: PropertyId) -> u32 {
        self.properties[property.0].samples()
    }

    /// Appends a sample: whole elements, little-endian. An equal sample is stored once.
    pub fn write_sample(&mut self, property: PropertyId, bytes: &[u8]) -> io::Result<()> {
        let property = &mut self.properties[property.0];
        let count = bytes.len() / property.data_type().size();
        let fits = bytes.len().is_multiple_of(property.data_type().size())
            && (property.shape() == Shape::Array || count == 1);
        if !fits {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("a sample of {} bytes does not fit its property", bytes.len()),
            ));
        }
        // Stored before each sample: readers only use it to tell equal ones, any digest will do.
        let key = xxh3_128(bytes);
        if property.repeats_last(key, count) {
            property.repeat();
            return Ok(());
        }
        let block = match self.remembered.find(key, bytes.len()) {
            Some(block) => block,
            None if bytes.is_empty() => Child::EMPTY_BLOCK,
            None => {
                let block = self.ogawa.write_block(&[&key.to_le_bytes(), bytes])?;
                self.remembered.insert(key, bytes.len(), block);
                block
            }
        };
        property.push(block, key, count);
        Ok(())
    }

    /// Appends a sample equal to the last one (which must exist), without looking at its bytes.
    pub fn repeat_sample(&mut self, property: PropertyId) {
        self.properties[property.0].repeat();
    }

    /// Writes the tree and closes the archive.
    pub fn finish(mut self) -> io::Result<W> {
        let (top, _) = self.finish_object(Self::TOP)?;
        let root = [
            self.ogawa.write_block(&[&FILE_VERSION.to_le_bytes()])?,
            self.ogawa.write_block(&[&LIBRARY_VERSION.to_le_bytes()])?,
            top,
            self.ogawa.write_block(&[self.application.as_bytes()])?,
            {
                let bytes = self.samplings_to_bytes();
                self.ogawa.write_block(&[&bytes])?
            },
            self.ogawa.write_block(&[&self.metadata.to_bytes()])?,
        ];
        let root = self.ogawa.write_group(root.into_iter())?;
        self.ogawa.finish(root)
    }

    fn samplings_to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (index, sampling) in self.samplings.iter().enumerate() {
            // As many as the longest of those that use it: readers take the length of a shot from here.
            let users = self.properties.iter().filter(|p| p.sampling() as usize == index);
            let samples = users.map(Property::samples).max().unwrap_or(0);
            out.extend(samples.to_le_bytes());
            out.extend(sampling.step.to_le_bytes());
            out.extend(1_u32.to_le_bytes());
            out.extend(sampling.start.to_le_bytes());
        }
        out
    }

    /// Writes an object's group; also returns the digest of everything below it.
    fn finish_object(&mut self, id: ObjectId) -> io::Result<(Child, u128)> {
        let (properties, property_digest) = self.finish_compound(self.objects[id.0].properties)?;
        let mut group = vec![properties];
        let mut headers = Vec::new();
        let mut digests = Vec::new();
        for child in self.objects[id.0].children.clone() {
            let (child_group, digest) = self.finish_object(child)?;
            group.push(child_group);
            digests.extend(digest.to_le_bytes());
            let child = &self.objects[child.0];
            headers.extend((child.name.len() as u32).to_le_bytes());
            headers.extend(child.name.as_bytes());
            let index = self.metadata.index(&child.metadata);
            headers.push(index);
            if index == MetadataTable::INLINE {
                headers.extend((child.metadata.len() as u32).to_le_bytes());
                headers.extend(child.metadata.as_bytes());
            }
            digests.extend(child.name.as_bytes());
        }
        let children_digest = xxh3_128(&digests);
        headers.extend(property_digest.to_le_bytes());
        headers.extend(children_digest.to_le_bytes());
        group.push(self.ogawa.write_block(&[&headers])?);
        let group = self.ogawa.write_group(group.into_iter())?;
        Ok((group, xxh3_128(&headers)))
    }

    fn finish_compound(&mut self, id: CompoundId) -> io::Result<(Child, u128)> {
        let mut group = Vec::new();
        let mut headers = Vec::new();
        let mut digests = Vec::new();
        for member in self.compounds[id.0].children.clone() {
            let (child, digest) = match member {
                Member::Compound(child) => {
                    let finished = self.finish_compound(child)?;
                    let compound = &self.compounds[child.0];
                    write_compound_header(
                        &compound.name,
                        &compound.metadata,
                        &mut self.metadata,
                        &mut headers,
                    );
                    finished
                }
                Member::Property(child) => {
                    let property = &self.properties[child.0];
                    property.write_header(&mut self.metadata, &mut headers);
                    let samples = property.children().into_iter();
                    (self.ogawa.write_group(samples)?, property.digest)
                }
            };
            group.push(child);
            digests.extend(digest.to_le_bytes());
        }
        digests.extend(&headers);
        if !group.is_empty() {
            group.push(self.ogawa.write_block(&[&headers])?);
        }
        Ok((self.ogawa.write_group(group.into_iter())?, xxh3_128(&digests)))
    }
}
