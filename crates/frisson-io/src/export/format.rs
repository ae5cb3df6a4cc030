//! The kinds of files there are.

use std::fmt;
use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Alembic, Ogawa container.
    Alembic,
    /// USD, binary or text by the file's extension.
    Usd,
    /// 3ds Max and Blender point cache.
    Pc2,
    /// LightWave point cache.
    Mdd,
    /// Wavefront sequence.
    Obj,
    /// GLB with morph targets.
    MorphGlb,
    /// Images over meshes, as a sequence.
    Png,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [Self; 7] =
        [Self::Alembic, Self::Usd, Self::Pc2, Self::Mdd, Self::Obj, Self::MorphGlb, Self::Png];

    /// The format's key in a scene file.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Alembic => "alembic",
            Self::Usd => "usd",
            Self::Pc2 => "pc2",
            Self::Mdd => "mdd",
            Self::Obj => "obj",
            Self::MorphGlb => "glb",
            Self::Png => "png",
        }
    }

    /// The format that a file's extension asks for.
    #[must_use]
    pub fn from_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match extension.as_str() {
            "abc" => Self::Alembic,
            "usd" | "usdc" | "usda" => Self::Usd,
            "pc2" => Self::Pc2,
            "mdd" => Self::Mdd,
            "obj" => Self::Obj,
            "glb" => Self::MorphGlb,
            "png" => Self::Png,
            _ => return None,
        })
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alembic => "Alembic",
            Self::Usd => "USD",
            Self::Pc2 => "PC2",
            Self::Mdd => "MDD",
            Self::Obj => "OBJ",
            Self::MorphGlb => "GLB",
            Self::Png => "PNG",
        })
    }
}
